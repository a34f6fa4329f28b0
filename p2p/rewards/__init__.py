"""What rewards are made of: named features, tolerances and templates."""
