"""Language models of a session: prices, caps and costs."""
