"""One training from the command line, with a given reward."""
