"""One training from the command line, with a reward of one's own."""
