"""This machine and the others: what they have, and what is served on them."""
