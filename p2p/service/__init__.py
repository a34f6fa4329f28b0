"""What p2p can do: modules of functions over a `Workspace`, one folder per noun."""
