"""Owner of the runs directory: only this package knows file names; every write is atomic."""
