"""Swimmer."""

from p2p.lab.worker.exams.phases import Phase, Range
from p2p.lab.worker.exams.script import Script, steady
from p2p.worker.known_motions.robots import KnownSentence


def swims(vx: Range, yaw: Range = 0.0) -> Phase:
    """Swing both joints and get on."""
    return Phase(vx=vx, yaw=yaw, sway=0.5, effort=0.5)


SCRIPTS: dict[tuple[str, str], Script] = {
    ("basic", "swimmer-swim"): steady(
        swims((0.12, 0.25)), "forward", least=0.3, steps=True, known=KnownSentence("swim forward", "move", low=0.1)
    ),
    ("p2p-60", "swimmer-ahead"): steady(swims((0.1, 0.25)), "forward", least=0.25, steps=True,
        known=KnownSentence("swim ahead", "move", low=0.08),
    ),
    ("p2p-60", "swimmer-slow"): steady(swims((0.05, 0.07)), "forward", least=0.4, most=2.0, steps=True),
    ("p2p-60", "swimmer-circle"): Script(
        (Phase(yaw=(0.97, 1.05), sway=0.5, effort=0.5),), "turn", least=0.6, most=1.5, without=("stops", "late")
    ),
}  # fmt: skip
