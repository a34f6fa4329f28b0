"""One criterion by eyes and by code, and the distance of the two scores."""

from p2p.contracts.judgment import Judgment, Observation, Sight

TOLERANCE = 0.2
"""Most by which the score of eyes and the measured one may differ."""


def measured_score(code: Judgment) -> float | None:
    """Weighted mean of the measured scores, advisory ones included; None without measurements."""
    weight = sum(score.weight for score in code.criteria)
    return sum(score.weight * score.score for score in code.criteria) / weight if weight else None


def gap(code: Judgment, observation: Observation) -> float | None:
    """Distance of the eyes' score from the measured one, in [0, 1]; None without measurements."""
    measured = measured_score(code)
    return None if measured is None else round(abs(measured - observation.score), 6)


def apart(code: Judgment, observation: Observation) -> bool:
    """Whether the two scores differ so much that eyes look once more."""
    return (gap(code, observation) or 0.0) > TOLERANCE


def sight(observation: Observation, key: str) -> Sight | None:
    """The eyes' answer on a criterion; None if absent."""
    for finding in observation.findings:
        if finding.key == key:
            return finding.state
    met = observation.criteria.get(key)
    return None if met is None else (Sight.MET if met else Sight.NOT_MET)
