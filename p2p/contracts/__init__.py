"""Every value that crosses a process, a file or the network: one frozen pydantic model per noun."""
