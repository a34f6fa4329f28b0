"""One module per vendor, on its own library; none knows another."""
