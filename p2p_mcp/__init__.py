"""The Model Context Protocol door to p2p."""
