"""The words the built-in author knows, and what each of them says."""

from dataclasses import dataclass
from enum import StrEnum

from p2p.rewards.templates.skill import Direction, Level, Manner, Pace


class Kind(StrEnum):
    """What a phrase says."""

    GAIT = "gait"
    SKILL = "skill"
    DIRECTION = "direction"
    PACE = "pace"
    LEVEL = "level"
    MANNER = "manner"
    TURNS = "turns"
    TIMES = "times"
    REPEATEDLY = "repeatedly"
    HIGHEST = "highest"
    TURN = "turn"
    """A turn about the vertical, whose angle must be said."""
    NEXT = "next"
    """Begins the next step."""
    FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Mark:
    """What one phrase says."""

    kind: Kind
    value: object = None
    direction: Direction | None = None
    """Said along with it: "backflip"."""


_VERBS: tuple[tuple[Mark, str], ...] = (
    (Mark(Kind.GAIT, "walk"), "walk / stroll / march / stride / step / pace"),
    (Mark(Kind.GAIT, "run"), "run / sprint / dash / race / rush"),
    (Mark(Kind.GAIT, "trot"), "jog / trot"),
    (Mark(Kind.GAIT, "gallop"), "gallop / bound / canter"),
    (Mark(Kind.GAIT, "hop"), "hop / skip"),
    (Mark(Kind.GAIT, "crawl"), "crawl / creep / sneak"),
    (Mark(Kind.GAIT, "swim"), "swim / undulate"),
    (Mark(Kind.GAIT, "move"), "move / go / travel / advance / proceed / head / drive"),
    (
        Mark(Kind.SKILL, "still"),
        "stand still / stand / stay still / keep still / hold still / remain still / stop / freeze / stay in place / "
        "stay where you are / stay where it is / remain in place / stay put / do nothing / rest / hold position / "
        "remain standing / stay standing / keep standing",
    ),
    (
        Mark(Kind.SKILL, "upright"),
        "stand upright / hold upright / stay upright / keep upright / remain upright / hold yourself upright / "
        "hold itself upright / keep your balance / keep its balance / keep balance / balance / balance upright / "
        "stay balanced / hold your torso upright / keep your torso upright / stay on your feet / stay on its feet",
    ),
    (Mark(Kind.SKILL, "posture"), "stay / keep / hold / remain"),
    (Mark(Kind.LEVEL, Level.LOW), "crouch / duck / squat / stay low / keep low / remain low / hold low"),
    (Mark(Kind.LEVEL, Level.HIGH), "stand tall / stay high / keep high / stand high / hold high / stretch up"),
    (Mark(Kind.SKILL, "jump"), "jump / leap / jump up / leap up / bounce up"),
    (Mark(Kind.REPEATEDLY, "jump"), "bounce / jump up and down / hop up and down / bounce up and down / keep jumping"),
    (Mark(Kind.SKILL, "spin"), "spin / rotate / twirl / pirouette / spin around / rotate around / whirl / swivel"),
    (Mark(Kind.TURN), "turn"),
    (Mark(Kind.TURNS, 0.5), "turn around / turn round"),
    (Mark(Kind.SKILL, "flip"), "flip / somersault / flip over / turn a somersault"),
    (Mark(Kind.SKILL, "flip", Direction.BACKWARD), "backflip / back flip"),
    (Mark(Kind.SKILL, "flip", Direction.FORWARD), "frontflip / front flip"),
    (
        Mark(Kind.SKILL, "rear"),
        "rear up / rear / stand on your hind legs / stand on its hind legs / stand on the hind legs / "
        "stand on hind legs / stand up on your hind legs / stand up on its hind legs / stand up on hind legs / "
        "stand upright on your hind legs / stand upright on its hind legs / balance on your hind legs / "
        "balance on its hind legs / balance on hind legs / stand on two legs / stand on your back legs / "
        "stand on its back legs / stand on the back legs / rise on your hind legs / stay on your hind legs / "
        "stay on its hind legs",
    ),
    (Mark(Kind.SKILL, "stand_up"), "stand up / get up / rise / rise up / get on your feet / get to your feet"),
    (
        Mark(Kind.SKILL, "reach"),
        "reach the target / reach the goal / reach target / reach for the target / touch the target / touch target / "
        "go to the target / move to the target / point at the target / follow the target / hit the target / "
        "move the fingertip to the target / bring the fingertip to the target / move the tip to the target / "
        "reach the target with the fingertip / move the arm to the target / reach",
    ),
    (Mark(Kind.SKILL, "push"), "push"),
    *(
        (
            Mark(Kind.SKILL, "push"),
            f"push {thing} to {place} / push {thing} into {place} / push {thing} towards {place} / "
            f"move {thing} to {place} / bring {thing} to {place} / slide {thing} to {place} / "
            f"push {thing} onto {place}",
        )
        for thing in ("the object", "the puck", "the cylinder", "the block", "it")
        for place in ("the goal", "the target")
    ),
    *(
        (
            Mark(Kind.SKILL, "balance"),
            f"balance {pole} / keep {pole} up / keep {pole} upright / keep {pole} balanced / keep {pole} standing / "
            f"hold {pole} up / hold {pole} upright / keep {pole} from falling / balance {pole} upright / "
            f"keep {pole} vertical / hold {pole} vertical / keep {pole} straight up / keep balancing {pole} / "
            f"keep {pole} in balance / hold {pole} balanced",
        )
        for pole in ("the pole", "the poles", "both poles", "pole", "the pendulum", "the double pendulum")
    ),
    (Mark(Kind.FILLER), "do / perform / make / execute / complete / try / learn / start / let / have / manage / get"),
)
"""Their first word may also end in -s or -ing."""

_PHRASES: tuple[tuple[Mark, str], ...] = (
    (Mark(Kind.SKILL, "still"), "dont move / do not move / without moving / motionless / immobile / still"),
    (Mark(Kind.SKILL, "jump"), "jumps / leaps / a jump / a leap"),
    (Mark(Kind.SKILL, "flip", Direction.BACKWARD), "backflips / back flips / backward flip / backwards flip"),
    (Mark(Kind.SKILL, "flip", Direction.BACKWARD), "backward somersault / backward flips / back somersault"),
    (Mark(Kind.SKILL, "flip", Direction.FORWARD), "frontflips / front flips / forward flip / forwards flip"),
    (Mark(Kind.SKILL, "flip", Direction.FORWARD), "forward somersault / forward flips / front somersault"),
    (Mark(Kind.SKILL, "flip"), "somersaults"),
    (Mark(Kind.SKILL, "spin"), "spins / pirouettes / twirls"),
    (Mark(Kind.SKILL, "rear"), "on your hind legs / on its hind legs / on hind legs / on the hind legs"),
    (Mark(Kind.SKILL, "balance"), "dont let the pole fall / do not let the pole fall / without dropping the pole"),
    (
        Mark(Kind.DIRECTION, Direction.FORWARD),
        "forward / forwards / ahead / straight ahead / onward / straight forward / to the front",
    ),
    (
        Mark(Kind.DIRECTION, Direction.BACKWARD),
        "backward / backwards / back / in reverse / rearward / rearwards / to the back / to the rear",
    ),
    (Mark(Kind.DIRECTION, Direction.LEFT), "left / leftward / leftwards / to the left / to your left / to its left"),
    (
        Mark(Kind.DIRECTION, Direction.LEFT),
        "counterclockwise / counter clockwise / anticlockwise / anti clockwise / sideways / sideways to the left",
    ),
    (
        Mark(Kind.DIRECTION, Direction.RIGHT),
        "right / rightward / rightwards / to the right / to your right / to its right / clockwise / "
        "sideways to the right",
    ),
    (
        Mark(Kind.PACE, Pace.SLOW),
        "slowly / slow / at low speed / at a low speed / at slow speed / at a slow pace / slower / leisurely / "
        "very slowly",
    ),
    (
        Mark(Kind.PACE, Pace.MODERATE),
        "moderately / moderate / at moderate speed / at a moderate speed / at a moderate pace / at medium speed / "
        "at a medium speed / at normal speed / normally",
    ),
    (
        Mark(Kind.PACE, Pace.FAST),
        "fast / quickly / rapidly / quick / swiftly / at full speed / at top speed / at high speed / at a high speed / "
        "as fast as possible / as fast as you can / as fast as it can / as quickly as possible / "
        "as quickly as you can / at maximum speed / very fast / faster / flat out",
    ),
    (
        Mark(Kind.LEVEL, Level.LOW),
        "low / low to the ground / low to the floor / close to the ground / close to the floor / near the ground / "
        "near the floor / crouched / as low as possible / as low as you can / with a low torso",
    ),
    (Mark(Kind.LEVEL, Level.HIGH), "high / tall / up high / with a high torso"),
    (Mark(Kind.HIGHEST), "as high as possible / as high as you can / as high as it can / as tall as possible / higher"),
    (Mark(Kind.REPEATEDLY), "repeatedly / again and again / over and over / continuously / several times / in a row"),
    (Mark(Kind.REPEATEDLY), "many times / multiple times / up and down / a few times"),
    (Mark(Kind.TIMES, 1), "once / one time / single / a single"),
    (Mark(Kind.TIMES, 2), "twice / double / two times"),
    (Mark(Kind.TIMES, 3), "thrice / triple"),
    (Mark(Kind.TURNS, 0.25), "quarter turn / a quarter turn / quarter of a turn / a quarter of a turn"),
    (Mark(Kind.TURNS, 0.5), "half turn / half a turn / a half turn / halfway around / half way around"),
    (
        Mark(Kind.TURNS, 1.0),
        "full turn / a full turn / one full turn / full circle / a full circle / all the way around",
    ),
    (Mark(Kind.TURNS, 1.0), "a turn / a rotation / a full rotation / full rotation / in a full circle"),
    (Mark(Kind.MANNER, Manner.SMOOTH), "smoothly / smooth / gently / softly / without jerking / fluently / gracefully"),
    (
        Mark(Kind.MANNER, Manner.SAVING),
        "with little effort / with low effort / with minimal effort / with as little effort as possible / "
        "efficiently / with little energy / using little energy / economically / energy efficiently / effortlessly / "
        "saving energy / without much effort",
    ),
    (
        Mark(Kind.MANNER, Manner.NO_FALL),
        "without falling / without falling over / without falling down / without ever falling / never fall / "
        "never falling / dont fall / do not fall / dont fall over / do not fall over / dont fall down / "
        "without tipping over / without toppling / safely / stably / without crashing / not falling",
    ),
    (
        Mark(Kind.MANNER, Manner.UPRIGHT),
        "upright / in an upright posture / with an upright torso / with your torso upright",
    ),
    (
        Mark(Kind.MANNER, Manner.UPRIGHT),
        "keeping your torso upright / keeping its torso upright / with the torso upright",
    ),
    (
        Mark(Kind.MANNER, Manner.IN_PLACE),
        "in place / on the spot / in one place / on one spot / without drifting / without moving away / "
        "without leaving the spot / where you are / without travelling",
    ),
    (Mark(Kind.MANNER, Manner.STRAIGHT), "straight / in a straight line / in a line"),
    (
        Mark(Kind.MANNER, Manner.LANDING),
        "land on your feet / land on its feet / land on the feet / land on both feet / landing on your feet / "
        "landing on its feet / landing on the feet / land upright / land safely / lands on its feet / land / "
        "land again / land cleanly / stick the landing",
    ),
    (
        Mark(Kind.MANNER, Manner.CENTRED),
        "in the middle / in the center / in the centre / near the middle / near the center / near the centre / "
        "centered / centred / at the center / at the centre",
    ),
    (
        Mark(Kind.NEXT),
        "then / and then / after that / and after that / afterwards / and afterwards / followed by / finally / "
        "and finally / next",
    ),
    (
        Mark(Kind.FILLER),
        "a / an / the / it / its / itself / you / your / yourself / please / to / and / at / with / while / "
        "robot / cheetah / hopper / walker / ant / swimmer / humanoid / arm / cart / agent / reacher / pusher / "
        "creature / should / must / will / can / i want / id like / want / be / able / just / simply / in the air / "
        "of / for / speed / pace / first / in / that / which / on / keep on / "
        "height / torso / body / at a height of / at a speed of / a height of / a speed of / whole time / "
        "the whole time / all the time / until the end / me / "
        "direction / in the direction / during / without stopping / always / constantly",
    ),
)


def _forms(verb: str) -> tuple[str, ...]:
    """A verb, with -s and with -ing."""
    third = verb + ("es" if verb.endswith(("s", "x", "sh", "ch", "do", "go")) else "s")
    if verb in (
        "run",
        "jog",
        "trot",
        "squat",
        "hop",
        "skip",
        "swim",
        "step",
        "spin",
        "flip",
        "stop",
        "get",
        "let",
        "sit",
    ):
        return verb, third, f"{verb}{verb[-1]}ing"
    return verb, third, (verb[:-1] if verb.endswith("e") else verb) + "ing"


def _lexicon() -> dict[tuple[str, ...], Mark]:
    found: dict[tuple[str, ...], Mark] = {}
    for mark, phrases in _VERBS:
        for phrase in phrases.split(" / "):
            first, *rest = phrase.split()
            for form in _forms(first):
                found.setdefault((form, *rest), mark)
    for mark, phrases in _PHRASES:
        for phrase in phrases.split(" / "):
            found.setdefault(tuple(phrase.split()), mark)
    return found


LEXICON = _lexicon()
"""Words in a row -> what they say; the longest match wins."""
LONGEST = max(len(words) for words in LEXICON)
