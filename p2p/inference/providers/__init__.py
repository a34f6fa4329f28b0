"""Providers: one module per vendor, on its own library."""
