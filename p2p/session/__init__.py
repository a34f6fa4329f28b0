"""The session loop and the processes that run it."""
