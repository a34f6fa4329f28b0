"""Walker2d."""

from p2p.lab.worker.exams.phases import Phase, Range
from p2p.lab.worker.exams.script import Script, steady
from p2p.worker.known_motions.robots import KnownSentence

STANDS = Phase()
ONE_LEG = {"thigh_joint": (-0.7, -0.5), "leg_joint": (-0.7, -0.5)}
KNEES = {"thigh_joint": (-0.65, -0.5), "leg_joint": (-0.75, -0.6)}
OTHER_KNEES = {"thigh_left_joint": (-0.65, -0.5), "leg_left_joint": (-0.75, -0.6)}


def walks(vx: Range, effort: Range = (0.2, 0.35), seconds: Range | None = None) -> Phase:
    """Step with both legs in turn."""
    return Phase(seconds=seconds, vx=vx, sway=0.3, effort=effort)


SCRIPTS: dict[tuple[str, str], Script] = {
    ("basic", "walker-walk"): steady(
        walks((0.3, 0.7)), "forward", least=0.25, most=3.2, steps=True,
        known=KnownSentence("walk forward slowly, upright", "move", low=0.2, high=0.8),
    ),
    ("p2p-60", "walker-ordinary"): steady(
        walks((0.7, 1.5)), "forward", least=0.3, most=4.0, steps=True,
        known=KnownSentence("walk along", "move", low=0.55, high=2.1),
    ),
    ("p2p-60", "walker-stand"): steady(
        STANDS, "still", directed=False, in_place=True, known=KnownSentence("stand still", "still")
    ),
    ("p2p-60", "walker-backward"): steady(
        walks((-1.3, -0.6)), "backward", least=0.27, steps=True,
        known=KnownSentence("walk backward", "move", low=0.45, way=-1.0),
    ),
    ("p2p-60", "walker-one-metre"): steady(walks((0.93, 1.07)), "forward", least=0.65, most=1.4, steps=True,
        known=KnownSentence("walk at 1 m/s", "move", low=1.0, high=1.0),
    ),
    ("p2p-60", "walker-high-knees"): Script(
        (Phase(vx=(0.6, 1.2), beats=KNEES, offbeats=OTHER_KNEES, hz=(1.2, 1.8), effort=0.3),), "forward", least=0.25,
        without=("slides",),
    ),
    ("p2p-60", "walker-thrifty"): steady(
        walks((0.6, 1.1), (0.15, 0.3)), "forward", economical=True, steps=True, least=0.3, unclear_with=("wait and go",)
    ),
    ("p2p-60", "walker-wait-walk"): Script(
        (Phase(seconds=(2.0, 2.3)), walks((0.8, 1.3))), "wait and go", least=0.35, ordered=True, without=("backward",)
    ),
    ("p2p-60", "walker-one-leg"): Script(
        (Phase(seconds=(0.6, 1.0)), Phase(seconds=(3.4, 3.8), pose=ONE_LEG), STANDS), "one leg", least=0.2,
        directed=False, in_place=True, timed=True, without=("first", "last"),
    ),
    ("p2p-60", "walker-three-jumps"): Script(
        (Phase(seconds=(4.5, 5.0), flights=3, height=(0.16, 0.25)), STANDS), "jump", directed=False, counted=True,
        in_place=True, known=KnownSentence("jump 3 times", "jump", low=0.12, times=3, exact=True),
    ),
}  # fmt: skip
