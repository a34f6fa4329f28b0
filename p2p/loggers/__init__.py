"""Loggers: each writes the rows of a run or a session into a log that another program shows."""
