"""The one owner of run directories: only this package knows a file name, and every write is atomic."""
