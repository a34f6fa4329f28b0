"""The loop that pursues one intent until it passes or stops."""
