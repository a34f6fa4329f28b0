"""Ant."""

from p2p.lab.worker.exams.phases import Phase, Range
from p2p.lab.worker.exams.script import Script, steady
from p2p.worker.known_motions.robots import KnownSentence

STANDS = Phase()
RAISED = {"ankle_1": (-0.5, -0.4)}
TWO_RAISED = {"ankle_1": (-0.5, -0.4), "ankle_3": (0.4, 0.5)}
"""Opposite legs."""


def walks(
    vx: Range = 0.0, vy: Range = 0.0, effort: Range = (0.2, 0.35), seconds: Range | None = None, yaw: Range = 0.0
) -> Phase:
    """Step with all legs."""
    return Phase(seconds=seconds, vx=vx, vy=vy, sway=0.3, effort=effort, yaw=yaw)


def spins(turns: Range, seconds: Range | None, bend: Range = 0.0) -> Phase:
    """Turn on stepping feet, to the left."""
    return Phase(seconds=seconds, yaw=turns, sway=0.1, effort=0.2, bend=bend)


ONCE_ROUND = Script(
    (spins((0.98, 1.04), (2.5, 3.5)), STANDS),
    "turn",
    most=1.5,
    in_place=True,
    directed=False,
    ordered=True,
    comes_to_rest=True,
    without=("backward", "order"),
)

WALK = steady(
    walks(vx=(0.6, 1.1)), "forward", least=0.3, steps=True, known=KnownSentence("walk forward", "move", low=0.42)
)

SCRIPTS: dict[tuple[str, str], Script] = {
    ("basic", "ant-left"): steady(
        walks(vy=(0.6, 1.0)), "left", least=0.3, steps=True,
        known=KnownSentence("walk to the left", "move", low=0.42, sideways=True),
    ),
    ("acrobatics", "ant-spin"): Script((spins((1.95, 2.1), (3.8, 4.6)), STANDS), "turn", most=1.5, in_place=True,
        known=KnownSentence("spin left twice", "spin", low=2.0, exact=True),
    ),
    ("exotic", "ant-spin-stop"): ONCE_ROUND,
    ("exotic", "ant-steady-walk"): WALK,
    ("exotic", "ant-two-legs"): Script(
        (Phase(pose=TWO_RAISED),), "two legs", least=0.2, directed=False, in_place=True, without=("falls",)
    ),
    ("exotic", "ant-rolling"): Script(
        (Phase(roll=(3.6, 4.4), vy=(-1.2, -0.9)),), "roll", least=0.4, directed=False, on_feet=False,
        without=("askew", "fro", "spike", "hurried", "rests"),
    ),
    ("exotic", "ant-breakdance"): Script(
        (spins((3.6, 4.4), None, bend=(0.85, 1.0)),), "low turn", least=0.4, directed=False, in_place=True,
    ),
    ("p2p-60", "ant-straight"): WALK,
    ("p2p-60", "ant-calm"): steady(
        STANDS, "still", directed=False, in_place=True, known=KnownSentence("stand still", "still"),
        unclear_clips=("let go",),
    ),
    ("p2p-60", "ant-right"): steady(
        walks(vy=(-1.0, -0.6)), "right", least=0.3, steps=True,
        known=KnownSentence("walk to the right", "move", low=0.37, way=-1.0, sideways=True),
    ),
    ("p2p-60", "ant-half-metre"): steady(walks(vx=(0.47, 0.53)), "forward", least=0.6, most=1.5, steps=True,
        known=KnownSentence("walk at 0.5 m/s", "move", low=0.5, high=0.5),
    ),
    ("p2p-60", "ant-turn-and-half"): Script(
        (spins((1.47, 1.55), (3.2, 4.2)), STANDS), "turn", least=0.66, most=1.35, in_place=True,
        known=KnownSentence("turn left one and a half times", "spin", low=1.5, exact=True),
    ),
    ("p2p-60", "ant-thrifty"): steady(
        walks(vx=(0.6, 0.9), effort=(0.15, 0.3)), "forward", economical=True, directed=False, steps=True,
        unclear_with=("left", "right", "backward", "go and turn"),
        without=("stops", "late", "hurried", "rests"),
    ),
    ("p2p-60", "ant-belly-low"): steady(Phase(bend=(0.9, 1.0)), "crouch", directed=False, in_place=True),
    ("p2p-60", "ant-go-turn"): Script(
        (walks(vx=(0.8, 1.0), seconds=(2.9, 3.2)), spins((0.48, 0.52), (2.0, 2.5)), STANDS), "go and turn",
        ordered=True, without=("backward", "way", "order"),
    ),
    ("p2p-60", "ant-raised-leg"): Script(
        (Phase(seconds=(0.6, 1.0)), Phase(seconds=(3.5, 3.8), pose=RAISED), STANDS), "one leg", least=0.2,
        directed=False, in_place=True, timed=True, without=("first", "last"),
    ),
}  # fmt: skip
