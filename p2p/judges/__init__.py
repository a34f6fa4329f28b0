"""Who decides whether a policy does what was asked."""
