"""Pages that MCP clients show in the conversation."""
