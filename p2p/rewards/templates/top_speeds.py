"""Top speeds of trained policies per robot, from `top_speeds.json`, with their sources."""

import json
from pathlib import Path
from typing import Any

from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.skill import Direction, Pace

SHARE = 0.85
"""Share of the speed reached that "as fast as you can" must have. Seeds differed by less than 5 %."""
BEYOND = 2.0
"""Times the speed reached in a million steps from which on a speed is beyond a robot."""
BEYOND_FAST = 3.0
"""The same for the speed of "fast", where no other was measured."""

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("top_speeds.json").read_text(encoding="utf-8"))


def fastest(body: RobotFacts, direction: Direction, fast: float) -> float:
    """Speed required by "as fast as you can": a share of the top speed, and at least fast.

    Args:
        body: The robot.
        direction: Which way.
        fast: Speed that "fast" must have [m/s].

    Returns:
        [m/s].
    """
    reached = _DATA["reached"].get(body.env_id, {}).get(direction.value)
    return max(fast, round(SHARE * reached["m_per_s"], 2)) if reached else fast


def beyond(body: RobotFacts) -> float:
    """Speed that exceeds what this robot can do [m/s]."""
    longest = _DATA["reached_in_a_million_steps"].get(body.env_id)
    return round(BEYOND * longest if longest else BEYOND_FAST * body.paces[Pace.FAST].judged.low, 2)
