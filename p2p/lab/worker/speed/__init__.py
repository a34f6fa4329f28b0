"""How fast a training is, what it is compared with, and what it could be at most."""
