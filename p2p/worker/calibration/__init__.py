"""Clips whose truth is known: robots moved joint by joint, so that what happens in them is prescribed."""
