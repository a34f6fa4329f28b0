"""The library's operations: modules of functions over a `Workspace`, one folder per noun."""
