"""Humanoid, and the humanoid that begins lying."""

from math import pi

from p2p.lab.worker.exams.phases import Phase, Range
from p2p.lab.worker.exams.script import Script, steady
from p2p.worker.known_motions.robots import KnownSentence

STANDS = Phase()
SQUAT = {joint: by for side in ("left", "right")
         for joint, by in ((f"{side}_hip_y", -0.8), (f"{side}_knee", -1.6))}  # fmt: skip
DEEP_SQUAT = {joint: by for side in ("left", "right")
              for joint, by in ((f"{side}_hip_y", -1.0), (f"{side}_knee", -2.0))}  # fmt: skip
HAND_UP: dict[str, Range] = {"right_shoulder1": -1.44, "right_shoulder2": -0.06, "right_elbow": -1.1}
JAB: dict[str, Range] = {"left_shoulder2": -0.65, "left_elbow": -1.3}
DRAWN_BACK: dict[str, Range] = {"left_shoulder1": 0.3, "left_shoulder2": 0.5, "left_elbow": 0.3}
LEFT_LEG: dict[str, Range] = {"right_hip_y": (-1.2, -1.0), "right_knee": (-1.6, -1.4)}
LUNGE: dict[str, Range] = {"left_hip_y": -1.25, "left_knee": -1.5, "right_hip_y": 0.2, "right_knee": -1.05}
PLANK: dict[str, Range] = {
    "right_shoulder1": 0.7, "right_shoulder2": 0.42, "right_elbow": -0.8,
    "left_shoulder1": -0.7, "left_shoulder2": -0.42, "left_elbow": -0.8,
}  # fmt: skip


def walks(vx: Range = 0.0, vy: Range = 0.0, seconds: Range | None = None) -> Phase:
    """Step, with feet that leave the floor."""
    return Phase(seconds=seconds, vx=vx, vy=vy, sway=0.3, bounce=0.06, effort=(0.2, 0.35))


STILL = steady(STANDS, "still", directed=False, in_place=True, known=KnownSentence("stand still", "still"))

SCRIPTS: dict[tuple[str, str], Script] = {
    ("acrobatics", "humanoid-still"): STILL,
    ("exotic", "humanoid-plank"): Script(
        (Phase(pose=PLANK, lean=-1.2058),), "plank", least=0.5, directed=False, on_feet=False
    ),
    ("exotic", "humanoid-walk-tall"): steady(
        walks(vx=(0.6, 1.2)), "forward", least=0.3, steps=True,
        without=("plain",),
        known=KnownSentence("walk forward", "move", low=0.45, high=1.7),
    ),
    ("exotic", "humanoid-forward-roll"): Script(
        (Phase(seconds=(2.0, 2.6), pitch=-1.0, pose=DEEP_SQUAT), STANDS), "roll", on_feet=False, without=("plain",)
    ),
    ("exotic", "humanoid-left-jabs"): Script(
        (Phase(pose=DRAWN_BACK, beats={"left_shoulder1": -0.3, "left_shoulder2": -1.15, "left_elbow": -1.6},
               hz=(1.0, 1.4)),), "jabs", least=0.25, directed=False, in_place=True, sided=True,
    ),
    ("exotic", "humanoid-lunge"): Script(
        (Phase(pose=LUNGE),), "lunge", least=0.4, directed=False, in_place=True
    ),
    ("p2p-60", "humanoid-stand"): STILL,
    ("p2p-60", "humanoid-steps"): steady(
        walks(vx=(0.4, 1.2)), "forward", least=0.2, steps=True,
        without=("plain",),
        known=KnownSentence("walk forward", "move", low=0.35),
    ),
    ("p2p-60", "humanoid-half-squat"): steady(
        Phase(pose=SQUAT), "squat", least=0.4, directed=False, in_place=True
    ),
    ("p2p-60", "humanoid-jog"): steady(walks(vx=(1.4, 1.6)), "forward", least=0.7, most=1.45, steps=True,
        without=("plain",),
        known=KnownSentence("run at 1.5 m/s", "move", low=1.5, high=1.5),
    ),
    ("p2p-60", "humanoid-right-hand"): steady(
        Phase(pose=HAND_UP), "hand up", least=0.3, directed=False, in_place=True, sided=True
    ),
    ("p2p-60", "humanoid-relaxed"): steady(
        Phase(effort=(0.1, 0.25)), "still", directed=False, economical=True, in_place=True,
        unclear_with=("hand up",), without=("sways",),
    ),
    ("p2p-60", "humanoid-side-step"): steady(
        walks(vy=(0.4, 0.8)), "left", least=0.25, steps=True,
        without=("plain",),
        known=KnownSentence("walk to the left", "move", low=0.29, sideways=True),
    ),
    ("p2p-60", "humanoid-left-leg"): Script(
        (Phase(seconds=(0.6, 1.0)), Phase(seconds=(3.4, 3.7), pose=LEFT_LEG), STANDS), "one leg", least=0.2,
        directed=False, in_place=True, sided=True, timed=True, without=("first", "last"),
    ),
    ("p2p-60", "humanoid-three-jumps"): Script(
        (Phase(seconds=(4.4, 4.8), flights=3, height=(0.13, 0.2)), STANDS), "jump", directed=False, counted=True,
        in_place=True, known=KnownSentence("jump 3 times", "jump", low=0.095, times=3, exact=True),
    ),
    ("p2p-60", "standup-stay"): Script(
        (Phase(seconds=(1.6, 2.4)), Phase(lean=(-pi / 2 - 0.05, -pi / 2 + 0.05))), "get up", least=0.4,
        directed=False, on_feet=False,
    ),
}  # fmt: skip
