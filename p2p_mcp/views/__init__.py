"""What tools show: facts of the service in words, small enough to read."""
