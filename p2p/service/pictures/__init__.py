"""Pictures and files of sessions, on request."""
