"""What eyes say of a criterion, and how far they are from what was measured."""

from p2p.contracts.judgment import Judgment
from p2p.contracts.observation import Observation, Sight

TOLERANCE = 0.2
"""Most by which the score of eyes and the measured one may differ."""


def measured_score(code: Judgment) -> float | None:
    """Weighted mean of what code measured, also where that decides nothing; None where it measured nothing."""
    weight = sum(score.weight for score in code.criteria)
    return sum(score.weight * score.score for score in code.criteria) / weight if weight else None


def gap(code: Judgment, observation: Observation) -> float | None:
    """How far the score of eyes is from the measured one, in [0, 1]; None where nothing was measured."""
    measured = measured_score(code)
    return None if measured is None else round(abs(measured - observation.score), 6)


def apart(code: Judgment, observation: Observation) -> bool:
    """Whether the two scores are too far apart: then, once, eyes look again."""
    return (gap(code, observation) or 0.0) > TOLERANCE


def sight(observation: Observation, key: str) -> Sight | None:
    """What eyes say of a criterion; None where they say nothing."""
    for finding in observation.findings:
        if finding.key == key:
            return finding.state
    met = observation.criteria.get(key)
    return None if met is None else (Sight.MET if met else Sight.NOT_MET)
