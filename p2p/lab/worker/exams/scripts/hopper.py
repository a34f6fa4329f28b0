"""Hopper."""

from p2p.lab.worker.exams.phases import Phase, Range
from p2p.lab.worker.exams.script import Script, steady
from p2p.worker.known_motions.robots import KnownSentence

STANDS = Phase()


def hops(vx: Range, bounce: float = 0.1, effort: Range = (0.2, 0.35), seconds: Range | None = None) -> Phase:
    """Travel in hops."""
    return Phase(seconds=seconds, vx=vx, bounce=bounce, sway=0.1, effort=effort)


SCRIPTS: dict[tuple[str, str], Script] = {
    ("basic", "hopper-hop"): steady(
        hops((1.1, 1.8)), "forward", least=0.3, steps=True, known=KnownSentence("hop forward", "hop", low=0.7)
    ),
    ("p2p-60", "hopper-onward"): steady(
        hops((0.7, 1.6)), "forward", least=0.25, steps=True, known=KnownSentence("hop onward", "hop", low=0.5)
    ),
    ("p2p-60", "hopper-stand"): steady(
        STANDS, "still", directed=False, in_place=True, known=KnownSentence("stand still", "still"),
        unclear_clips=("bends and stretches",),
    ),
    ("p2p-60", "hopper-slow"): steady(hops((0.4, 0.8)), "forward", least=0.25, most=2.9, steps=True, without=("plain",),
        known=KnownSentence("move slowly", "move", low=0.28, high=0.9),
    ),
    ("p2p-60", "hopper-backward"): steady(
        hops((-1.4, -0.7)), "backward", least=0.3, steps=True,
        known=KnownSentence("run backward", "move", low=0.5, way=-1.0),
    ),
    ("p2p-60", "hopper-one-jump"): Script(
        (Phase(seconds=(2.0, 3.0), flights=1, height=(0.2, 0.3)), STANDS), "jump", directed=False, counted=True,
        in_place=True, unclear_with=("flip",), known=KnownSentence("jump once", "jump", low=0.17, exact=True),
    ),
    ("p2p-60", "hopper-hop-stop"): Script(
        (hops((0.8, 1.4), seconds=(2.2, 2.8)), STANDS), "go and stop", least=0.3, ordered=True,
        comes_to_rest=True, without=("backward",),
    ),
    ("p2p-60", "hopper-thrifty"): steady(
        hops((0.6, 1.0), effort=(0.15, 0.3)), "forward", least=0.4, economical=True, steps=True,
        unclear_with=("go and stop",), without=("stops", "late", "hurried", "rests"),
    ),
    ("p2p-60", "hopper-front-flip"): Script(
        (Phase(seconds=(2.4, 3.0), flights=1, height=(0.6, 0.75), flight_s=(0.75, 0.85), pitch=-1.0), STANDS), "flip",
        known=KnownSentence("do a front flip", "flip", way=-1.0, lands=True),
    ),
    ("p2p-60", "hopper-big-leaps"): steady(
        Phase(flights=8, height=(0.2, 0.3), vx=(1.2, 1.8), sway=0.1, effort=0.3), "forward", least=0.3,
        without=("less",),
    ),
}  # fmt: skip
