"""What a process of the worker may do: files, system calls, memory, and nothing it was not given."""
