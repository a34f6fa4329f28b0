"""The one service behind every door: MCP tools, command line, REST routes and the loop call it and nothing below."""

from p2p.service.facade import Service

__all__ = ["Service"]
