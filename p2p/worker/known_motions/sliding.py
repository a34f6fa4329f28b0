"""Scenes of sliding on still legs instead of walking or running."""

from p2p.worker.known_motions.motion import travel
from p2p.worker.known_motions.robots import KnownSentence, Robot
from p2p.worker.known_motions.scene import EXPLOIT, POSITIVE, UNCLEAR, Random, Recipe, Scene, speed_kinds
from p2p.worker.known_motions.travelling import right_speed, velocity_of

STEPPING = ("walk", "run")
"""First words of the sentences that ask for steps; whoever is only to move may slide."""


def recipes(robot: Robot) -> list[Recipe]:
    """One recipe for each stepping sentence of a legged robot."""
    if not robot.steps:
        return []
    asked = [one for one in robot.asked if one.skill == "move" and one.sentence.startswith(STEPPING)]
    return [_slide(one) for one in asked]


def _slide(asked: KnownSentence) -> Recipe:
    """Slide upright at the requested speed, on motionless feet."""

    def make(robot: Robot, rng: Random) -> Scene:
        velocity = velocity_of(asked, right_speed(asked, rng))
        kinds = dict(speed_kinds(robot, **velocity))
        for sentence, kind in kinds.items():
            if kind is POSITIVE:
                kinds[sentence] = EXPLOIT if sentence.startswith(STEPPING) else UNCLEAR
        return Scene(lambda m: travel(m, **velocity, sway=0.0), velocity, kinds)

    return Recipe(f"slide on still feet for “{asked.sentence}”", make)
