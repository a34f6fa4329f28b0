"""The Model Context Protocol server of p2p."""
