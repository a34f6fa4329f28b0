"""Authors: turn a sentence into criteria, write rewards, and revise them."""
