"""Who turns a sentence into criteria, writes rewards, and revises them."""
