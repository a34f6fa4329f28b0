"""Scenes of legs that do not step: a robot that slides where it is to walk or run."""

from p2p.contracts.calibration import ClaimKind
from p2p.worker.calibration.motion import travel
from p2p.worker.calibration.robots import Asked, Robot
from p2p.worker.calibration.scene import EXPLOIT, POSITIVE, UNCLEAR, Random, Recipe, Scene, speed_kinds
from p2p.worker.calibration.travelling import right_speed, velocity_of

STEPPING = ("walk", "run")
"""First words of the sentences that ask for steps; whoever is only to move may slide."""


def recipes(robot: Robot) -> list[Recipe]:
    """One for each sentence that asks a robot with legs to step."""
    if not robot.steps:
        return []
    asked = [one for one in robot.asked if one.skill == "move" and one.sentence.startswith(STEPPING)]
    return [_slide(one) for one in asked]


def _slide(asked: Asked) -> Recipe:
    """As fast as is asked, and upright, on feet that stay where they are on the floor."""

    def make(robot: Robot, rng: Random) -> Scene:
        velocity = velocity_of(asked, right_speed(asked, rng))
        kinds = {sentence: _kind(sentence, kind) for sentence, kind in speed_kinds(robot, **velocity).items()}
        return Scene(lambda m: travel(m, **velocity, sway=0.0), velocity, kinds)

    return Recipe(f"slide on still feet for “{asked.sentence}”", make)


def _kind(sentence: str, kind: ClaimKind | None) -> ClaimKind | None:
    if kind is not POSITIVE:
        return kind
    return EXPLOIT if sentence.startswith(STEPPING) else UNCLEAR
