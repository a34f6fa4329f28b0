"""Pictures and files of what was done, on request."""
