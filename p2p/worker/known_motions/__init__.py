"""Motions with known truth: robots moved joint by joint, so that each motion is prescribed."""
