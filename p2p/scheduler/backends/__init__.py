"""Where jobs run: one file per kind of place."""
