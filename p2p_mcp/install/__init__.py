"""How p2p gets into the configuration of a client, and how it is found out whether that works."""
