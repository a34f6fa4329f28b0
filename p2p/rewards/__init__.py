"""Building blocks of rewards: named features, tolerances and templates."""
