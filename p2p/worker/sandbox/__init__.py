"""Confinement of worker processes: files, system calls, memory."""
