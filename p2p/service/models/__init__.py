"""Language models of a session: prices, caps, costs."""
