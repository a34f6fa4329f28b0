"""Put p2p into the configuration of a client, and check that it works there."""
