"""What simulates: many environments of one kind, stepped at once."""
