"""Claude at the tools of our own server: `p2p agent`."""
