"""HalfCheetah."""

from dataclasses import replace

from p2p.lab.worker.exams.phases import Phase, Range
from p2p.lab.worker.exams.script import Script, steady
from p2p.worker.known_motions.robots import KnownSentence

REARS = Phase(seconds=(4.6, 4.9), lean=(1.45, 1.65))
STANDS = Phase()


def goes(vx: Range, effort: Range = (0.2, 0.35)) -> Phase:
    """Run or walk on both legs."""
    return Phase(vx=vx, sway=0.3, effort=effort)


def flips(turns: float, seconds: Range = (2.4, 3.0)) -> Phase:
    """Turn over in one leap, backward positive."""
    return Phase(seconds=seconds, flights=1, height=(0.55, 0.7), flight_s=(0.7, 0.8), pitch=turns)


def creeps(vx: Range) -> Phase:
    """Crawl: a crouching gait that rocks from one leg to the other."""
    return Phase(vx=vx, bend=(0.88, 1.0), sway=0.15, rock=0.06, lean=-0.05, effort=(0.2, 0.3))


BACKFLIP = Script((flips(1.0), STANDS), "flip", known=KnownSentence("do a backflip", "flip", lands=True))
BOUNDS = steady(Phase(vx=(1.1, 1.8), sway=0.1, bounce=0.12, effort=0.3), "forward", least=0.3, steps=True)
BACKFLIP_AND_RUN = Script(
    (flips(1.0, (1.7, 2.0)), goes((3.4, 4.4))), "flip and run", ordered=True, without=("backward",)
)
REARING = Script(
    (Phase(seconds=(0.3, 0.6)), REARS, STANDS),
    "rear",
    on_feet=False,
    without=("backward",),
    known=KnownSentence("stand on your hind legs", "rear", low=2.0),
)
RUN_AND_STOP = Script(
    (replace(goes((1.8, 2.6)), seconds=(2.9, 3.2)), STANDS),
    "run and stop",
    ordered=True,
    comes_to_rest=True,
    without=("backward",),
)

CRAWL = steady(
    creeps((0.65, 1.2)), "forward", least=0.3, steps=True, known=KnownSentence("crawl forward", "crawl", low=0.5)
)

SCRIPTS: dict[tuple[str, str], Script] = {
    ("basic", "cheetah-run"): steady(
        goes((3.4, 5.5)), "forward", steps=True, known=KnownSentence("run forward as fast as you can", "move", low=3.0)
    ),
    ("basic", "cheetah-back"): steady(
        goes((-3.2, -2.2)), "backward", steps=True, known=KnownSentence("run backward", "move", low=2.0, way=-1.0)
    ),
    ("acrobatics", "cheetah-backflip"): replace(BACKFLIP, unclear_with=("flip and run",)),
    ("acrobatics", "cheetah-front-flip"): Script(
        (flips(-1.0), STANDS), "front flip", known=KnownSentence("do a front flip", "flip", way=-1.0)
    ),
    ("acrobatics", "cheetah-rear"): REARING,
    ("acrobatics", "cheetah-jump"): Script(
        (Phase(seconds=(2.0, 3.0), flights=1, height=(0.55, 0.8)), STANDS), "jump", unclear_with=("flip", "front flip"),
        directed=False, in_place=True, known=KnownSentence("jump", "jump", low=0.5),
    ),
    ("acrobatics", "cheetah-crawl"): CRAWL,
    ("acrobatics", "cheetah-still"): steady(
        STANDS, "still", directed=False, in_place=True, known=KnownSentence("stand still", "still")
    ),
    ("exotic", "cheetah-crawl-low"): CRAWL,
    ("exotic", "cheetah-kangaroo"): BOUNDS,
    ("exotic", "cheetah-back-legs"): replace(REARING, least=0.3, known=None),
    ("exotic", "cheetah-backflip-upright"): BACKFLIP,
    ("exotic", "cheetah-flip-sprint"): BACKFLIP_AND_RUN,
    ("p2p-60", "cheetah-easy-run"): steady(
        goes((1.2, 3.0)), "forward", least=0.3, steps=True, known=KnownSentence("run ahead", "move", low=1.0, high=4.5)
    ),
    ("p2p-60", "cheetah-back-up"): steady(
        goes((-2.0, -1.15)), "backward", least=0.45, steps=True,
        known=KnownSentence("run backward", "move", low=1.0, way=-1.0),
    ),
    ("p2p-60", "cheetah-crouch"): steady(Phase(bend=(0.85, 1.0)), "crouch", directed=False, in_place=True),
    ("p2p-60", "cheetah-two-metres"): steady(goes((1.9, 2.1)), "forward", least=0.7, most=1.35, steps=True,
        known=KnownSentence("run at 2 m/s", "move", low=2.0, high=2.0),
    ),
    ("p2p-60", "cheetah-thrifty"): steady(
        goes((0.95, 1.5), (0.15, 0.3)), "forward", least=0.45, economical=True, steps=True,
        unclear_with=("flip and run", "run and stop"), without=("stops", "late", "hurried", "rests"),
    ),
    ("p2p-60", "cheetah-run-stop"): RUN_AND_STOP,
    ("p2p-60", "cheetah-rabbit"): BOUNDS,
    ("p2p-60", "cheetah-somersault"): BACKFLIP,
    ("p2p-60", "cheetah-hind-feet"): replace(
        REARING, timed=True, known=KnownSentence("stand on your hind legs for 4 seconds", "rear", low=4.0)
    ),
}  # fmt: skip
