"""A trained policy in the formats that others load."""
