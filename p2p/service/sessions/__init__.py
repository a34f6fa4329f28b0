"""Sessions: begun, driven, looked at, kept and thrown away."""
