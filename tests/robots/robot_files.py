"""Model files that tests describe."""

from pathlib import Path

PONY = Path(__file__).parents[2] / "examples" / "pony.xml"
"""A small quadruped, with a keyframe."""
SNAKE = PONY.with_name("snake.xml")
"""A snake on wheels."""
