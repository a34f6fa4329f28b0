"""Sessions: create, drive, inspect, keep and delete."""
