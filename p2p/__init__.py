"""p2p: one sentence in, a trained and judged policy out."""

__version__ = "0.1.0"

DISTRIBUTION = "p2p-mcp"
"""Name of the distribution on the package index, where `p2p` is an unrelated project."""
