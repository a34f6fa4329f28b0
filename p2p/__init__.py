"""p2p: one sentence in, a trained and judged policy out."""

__version__ = "0.1.0"
