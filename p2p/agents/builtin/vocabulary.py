"""Vocabulary of the built-in author."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from p2p.agents.builtin.tokens import canonical, with_feet
from p2p.rewards.templates.skill import Direction, HeightLevel, Manner, Pace


class Kind(StrEnum):
    """Kinds of meaning of a phrase."""

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
    CIRCLE = "circle"
    """Round and round, farther out than a spin."""
    DIAGONAL = "diagonal"
    TURN = "turn"
    """A turn about the vertical, whose angle must be said."""
    NEXT = "next"
    """Begins the next step."""
    FIRST = "first"
    """Says that another step follows."""
    BEGIN = "begin"
    """Begins what it stands before, and says nothing of its own."""
    FASTEST = "fastest"
    """As fast as the body can."""
    VERY = "very"
    """Strengthens the pace that follows."""
    QUALITY = "quality"
    """How it is, or is not, to be done; a name of `qualities.QUALITIES`."""
    GROUND = "ground"
    """What it is to be done on; a kind of `Terrain`."""
    ROBOT = "robot"
    """Names a robot, which must be the one of the environment."""
    CONTEXT = "context"
    """Says something only beside what it belongs to: "speed" beside a speed."""
    VAGUE = "vague"
    """Leaves something open that must be said; the value says what."""
    UNMEASURED = "unmeasured"
    """Known, and measured by nothing yet; the value says what to do instead."""
    FILLER = "filler"


SILENT = frozenset({Kind.FILLER, Kind.FIRST, Kind.BEGIN})
"""Say nothing of what is to be done."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Meaning of one phrase."""

    kind: Kind
    value: object = None
    direction: Direction | None = None
    """Said along with it: "backflip"."""
    also: tuple[str, ...] = ()
    """Qualities, a manner, or "fastest", said along with it: "glide"."""
    verb: bool = False
    """Whether it says what to do, so that a step of its own can begin with it."""


_VERBS: tuple[tuple[Mark, str], ...] = (
    (Mark(Kind.GAIT, "walk"), "walk / stroll / march / stride / step / saunter"),
    (Mark(Kind.GAIT, "amble"), "amble / walk in a lateral sequence / walk in lateral sequence"),
    (Mark(Kind.GAIT, "run"), "run / sprint / dash / race / rush"),
    (Mark(Kind.GAIT, "trot"), "jog / trot"),
    (Mark(Kind.GAIT, "gallop"), "gallop / canter"),
    (Mark(Kind.GAIT, "bound"), "bound"),
    (Mark(Kind.GAIT, "pace"), "pace at / pace in a straight line"),
    (Mark(Kind.GAIT, "pace", Direction.FORWARD), "pace forward / pace forwards / pace ahead / pace straight ahead"),
    (Mark(Kind.GAIT, "pace", Direction.BACKWARD), "pace backward / pace backwards"),
    (Mark(Kind.GAIT, "hop"), "hop"),
    (Mark(Kind.GAIT, "crawl"), "crawl / creep / sneak"),
    (Mark(Kind.GAIT, "swim"), "swim / undulate"),
    (Mark(Kind.GAIT, "move"), "move / go / travel / advance / proceed / drive / locomote"),
    (Mark(Kind.GAIT, "move", Direction.FORWARD), "head forward / head forwards / head straight ahead / head onward"),
    (Mark(Kind.GAIT, "move", Direction.BACKWARD), "head backward / head backwards / back up"),
    (Mark(Kind.GAIT, "move", Direction.LEFT), "head left / head to the left"),
    (Mark(Kind.GAIT, "move", Direction.RIGHT), "head right / head to the right"),
    (Mark(Kind.GAIT, "move", also=("smooth", "no_jump")), "glide"),
    (Mark(Kind.GAIT, "move", also=("slides",)), "slide / skate"),
    (Mark(Kind.GAIT, "walk", also=("on_toes",)), "tiptoe"),
    (Mark(Kind.CIRCLE), "circle / circle around"),
    (
        Mark(Kind.GAIT, "move", also=("fastest",)),
        "maximize speed / maximise speed / maximize velocity / maximise velocity / maximize your speed / "
        "maximize your velocity / maximise your speed / maximise your velocity",
    ),
    (
        Mark(Kind.GAIT, "move", Direction.FORWARD, also=("fastest",)),
        "maximize forward velocity / maximise forward velocity / maximize forward speed / maximise forward speed / "
        "maximize your forward velocity / maximize your forward speed / maximize the forward velocity / "
        "maximize the forward speed / maximise the forward velocity / maximize velocity forward",
    ),
    (
        Mark(Kind.UNMEASURED, "nothing measures that yet"),
        "skip / limp / hobble / waddle / stagger / shuffle / moonwalk / dance / cartwheel / strut / wiggle / "
        "handstand / headstand / lie / sit / kneel / roll / climb / kick / fall",
    ),
    *(
        (
            Mark(Kind.QUALITY, f"wave:{side}"),
            " / ".join(
                f"wave {of} {side} {part}"
                for of in ("your", "its", "the", "with your", "with its", "with the")
                for part in ("arm", "hand")
            ),
        )
        for side in ("left", "right")
    ),
    (
        Mark(Kind.QUALITY, "wave:one"),
        "wave / wave your hand / wave your arm / wave its hand / wave its arm / wave a hand / wave an arm / "
        "wave with a hand / wave with an arm / wave with one hand / wave with one arm / wave one hand / wave one arm",
    ),
    (
        Mark(Kind.SKILL, "still"),
        "stand still / stand / stay still / keep still / hold still / remain still / stop / freeze / stay in place / "
        "stay where you are / stay where it is / remain in place / stay put / do nothing / rest / wait / pause / "
        "hold position / remain standing / stay standing / keep standing",
    ),
    (
        Mark(Kind.SKILL, "upright"),
        "stand upright / hold upright / stay upright / keep upright / remain upright / hold yourself upright / "
        "hold itself upright / keep your balance / keep its balance / keep balance / balance / balance upright / "
        "stay balanced / hold your torso upright / keep your torso upright / stay on your feet / stay on its feet",
    ),
    (Mark(Kind.SKILL, "posture"), "stay / keep / hold / remain"),
    (Mark(Kind.LEVEL, HeightLevel.LOW), "crouch / duck / squat / stay low / keep low / remain low / hold low"),
    (Mark(Kind.LEVEL, HeightLevel.HIGH), "stand tall / stay high / keep high / stand high / hold high / stretch up"),
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
    (
        Mark(Kind.SKILL, "stand_up"),
        "stand up / get up / rise / rise up / rise to your feet / get on your feet / "
        "get to your feet / get up off the floor / "
        "get up from the floor / get up off the ground / get up from the ground / stand up from the floor / "
        "stand up from the ground / get off the floor / get off the ground",
    ),
    (
        Mark(Kind.SKILL, "reach"),
        "reach the target / reach the goal / reach target / reach for the target / touch the target / touch target / "
        "go to the target / move to the target / point at the target / follow the target / hit the target / "
        "move the fingertip to the target / bring the fingertip to the target / move the tip to the target / "
        "reach the target with the fingertip / move the arm to the target / reach",
    ),
    *(
        (
            Mark(Kind.SKILL, "follow"),
            " / ".join(
                f"{verb} {whose}{which}{noun}"
                for verb in ("follow", "track", "obey")
                for whose in ("", "the ", "your ", "my ")
                for which in ("", "velocity ", "speed ", "given ")
                for noun in ("command", "commands")
            ),
        ),
        (
            Mark(Kind.SKILL, "follow"),
            " / ".join(
                f"{verb} {which} {noun}"
                for verb in ("follow", "track", "walk at", "move at", "go at", "walk with", "move with")
                for which in ("the commanded", "a commanded", "commanded")
                for noun in ("velocity", "velocities", "speed", "speeds", "velocity and yaw rate")
            ),
        ),
    ),
    (Mark(Kind.SKILL, "push"), "push"),
    *(
        (
            Mark(Kind.SKILL, "push"),
            " / ".join(
                f"{verb} {thing} {way} {place}"
                for verb in ("push", "move", "bring", "slide", "shove", "get")
                for way in ("to", "into", "towards", "onto", "in", "on", "toward")
            ),
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
    (
        Mark(Kind.FILLER),
        "do / perform / make / execute / complete / try / learn / let / have / manage / get / teach / take / show",
    ),
    (Mark(Kind.BEGIN), "start / begin"),
)
"""Their first word may also end in -s or -ing."""

ROBOTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("HalfCheetah",), "cheetah"),
    (("Hopper",), "hopper"),
    (("Walker2d",), "walker"),
    (("Ant",), "ant"),
    (("Swimmer",), "swimmer"),
    (("Humanoid", "HumanoidStandup"), "humanoid"),
    (("Reacher", "Pusher"), "arm"),
    (("Reacher",), "reacher"),
    (("Pusher",), "pusher"),
    (("InvertedPendulum", "InvertedDoublePendulum"), "cart"),
)
"""Names of environments without their version -> what a sentence calls that robot."""

_STEPS = "the size of the steps is not given; say 'with small steps', 'with long steps' or how fast"
_LANDING = "the softest possible landing was not measured; say 'land softly'"
_HEAD = "of a head, only 'with your head up', 'with your head down' and 'with your head still' are"
_LYING = "lying and kneeling are not measured yet; 'land on your feet', 'stay low' and 'stand still' are"
_ORDER = "say the steps in their order, with 'then' between them"
_UNMEASURED: tuple[tuple[str, str], ...] = (
    (_STEPS, "steps / strides / with quick steps / quick steps / with slow steps / in steps"),
    ("how high the feet are lifted is not measured yet; say 'with long steps' or how fast",
     "with high steps / high steps / with low steps / low steps / with high knees / high knees"),
    ("a number of steps is not counted; say for how many seconds", "a step / a single step / a few steps"),
    ("the height of the toes is not measured yet; say 'on tiptoe'", "on your heels"),
    (
        _LANDING,
        "land very softly / land as softly as possible / land as softly as you can / as softly as you can / "
        "as softly as possible / as gently as you can / as gently as possible / land as gently as possible / "
        "land as gently as you can / softer / land hard / with a hard landing / land harder",
    ),
    (
        _HEAD,
        "head / your head / the head / on your head / head first / with your head / with the head / nose / your nose / "
        "the nose / with your nose / with the nose / chin",
    ),
    (
        _LYING,
        "on your back / on the back / on your side / on the side / on your belly / on your stomach / on your knees / "
        "on your hands / on your knee / on all fours / on your bottom / "
        "on your face / on your tail / upside down / down / "
        "land on your back / land on your side / land on your belly / land on your head / land on your knees / "
        "land on your hands / face down",
    ),
    (
        "back and forth is not one movement; say 'walk forward then walk backward'",
        "back and forth / forth and back / to and fro / forward and back / "
        "forwards and backwards / forward and backward / "
        "back and forward / left and right / from side to side / side to side",
    ),
    ("whether the speed varies is not measured yet; say how fast, as in 'at 2 m/s'",
     "at a constant speed / at constant speed / at a steady pace / at a steady speed / with constant speed / "
     "at a constant pace / at constant velocity / at a constant velocity / at an even pace"),
    ("what changes little by little, or comes and goes, is not measured; say the steps in their order, with 'then' "
     "between them",
     " / ".join(
         text.format(more)
         for text in ("{0} and {0}", "ever {0}", "get {0}", "getting {0}", "become {0}", "becoming {0}")
         for more in ("faster", "slower", "quicker", "higher", "lower", "taller", "longer", "shorter")
     )
     + " / more and more / less and less / gradually / little by little / bit by bit / accelerate / accelerating / "
     "speed up / speeding up / slow down / slowing down / brake / braking / now and then / every now and then / "
     "from time to time / now and again / at times / sometimes / occasionally / on and off"),
    ("such a path is not measured yet; say 'in a circle to the left' or 'in a straight line'",
     "zigzag / in a zigzag / in zigzags / in a figure eight / in a square / in a spiral / in an s shape / in a curve / "
     "in a zig zag / around / about"),
    ("no place is measured, except for the spot where it begins; say 'in place'",
     "the start / from the start / of the start / to the start / at the start / the starting point / "
     + " / ".join(f"{stay} in {where}" for stay in ("stay", "remain", "hold") for where in ("a circle", "circles"))),
    ("what goes on is not said; say the steps in their order, with 'then' between them",
     "and so on / and so forth / etc / et cetera"),
    ("there is nothing and nobody else; say a direction, such as 'forward'",
     " / ".join(f"{where} {what}" for where in ("to", "at", "on", "in", "by")
                for what in ("me", "us", "him", "it", "you", "the robot", "a robot", "the agent"))
     + " / with me / with us / with him / with it / with you / on this / on that"),
    (_ORDER, "until / before / after / once you / as soon as / when / if / at the same time / meanwhile"),
    ("moods and styles are not measured, only the motors' effort; say 'with little effort' or 'smoothly'",
     "tired / drunk / happy / sad / angry / elegantly / naturally / "
     "like a human / like an animal / nicely / carefully / "
     "beautifully"),
)  # fmt: skip
"""What to do instead -> phrases that nothing measures yet."""

_NOT_TO_DO: tuple[tuple[Mark, str], ...] = (
    (
        Mark(Kind.MANNER, Manner.NO_FALL),
        "fall / fall over / fall down / ever fall / tip over / topple / "
        "topple over / crash / collapse / lose your balance / "
        "lose balance / fall on the floor / fall to the ground",
    ),
    (Mark(Kind.MANNER, Manner.STRAIGHT), "drift sideways / veer / veer off / swerve / "
        "go sideways / drift to the side / "
     "leave the line / drift left or right / move sideways / deviate / drift off to the side"),
    (Mark(Kind.MANNER, Manner.IN_PLACE), "drift / move away / leave the spot / leave your place / "
        "travel / drift away / "
     "wander / wander off / go anywhere / leave your spot"),
    (Mark(Kind.MANNER, Manner.SMOOTH), "jerk / twitch / make jerky movements"),
    (Mark(Kind.MANNER, Manner.SAVING), "waste energy / waste effort / waste power / "
        "use much energy / use much effort / "
     "use a lot of energy"),
    (Mark(Kind.SKILL, "still"), "move / move at all / budge / do anything"),
    (Mark(Kind.SKILL, "balance"), "drop the pole / let the pole fall / drop the poles / let the poles fall / "
     "let it fall / drop it"),
    (Mark(Kind.QUALITY, "no_jump"), "jump / leave the ground / leave the floor / hop / bounce / leap / take off / "
     "lift off / get airborne / fly"),
    (Mark(Kind.QUALITY, "no_flip"), "flip / flip over / turn over / roll over / tumble / somersault / go upside down / "
     "tumble over / fall on your back / roll / overturn"),
    (Mark(Kind.QUALITY, "no_turn"), "turn / turn around / spin / rotate / turn round / change direction / twist / "
     "turn left or right / spin around / turn to the side"),
    (Mark(Kind.QUALITY, "steady"), "stop / pause / halt / slow down / rest / ever stop / "
        "take a break / take breaks / stand still / "
     "take a pause"),
    (Mark(Kind.QUALITY, "no_sway"), "sway / wobble / rock / shake / tremble / swing / "
        "rock back and forth / vibrate / bob"),
    (Mark(Kind.QUALITY, "no_lean"), "lean / tilt / lean forward / lean back / lean backward / tilt over / bend over / "
     "bend forward / lean over / bow / stoop"),
    (
        Mark(Kind.QUALITY, "no_trunk"),
        " / ".join(f"{verb} your {part}" for verb in ("drag", "drop") for part in ("belly", "body", "trunk", "torso"))
        + " / "
        + " / ".join(
            f"touch the {floor} with your {part}"
            for floor in ("ground", "floor")
            for part in ("belly", "body", "trunk", "torso", "back")
        )
        + " / hit the floor with your trunk / lie down / lie on the floor / lie on the ground",
    ),
    (Mark(Kind.QUALITY, "head:still"), "nod / nod your head / bob your head / move your head / shake your head"),
    (Mark(Kind.QUALITY, "no_crouch"), "crouch / duck / squat / go low / get low"),
    (Mark(Kind.QUALITY, "no_slide"), "slide / slip / skid / skate / drag your feet / scrape your feet / glide"),
    *(
        (Mark(Kind.QUALITY, f"leg:{other}"),
         f"use your {side} leg / use the {side} leg / touch the ground with your {side} leg / "
         f"touch the floor with your {side} leg / touch the floor with the {side} leg / put down your {side} leg / "
         f"use your {side} foot / use the {side} foot")
        for side, other in (("left", "right"), ("right", "left"), ("front", "back"), ("rear", "front"))
    ),
)  # fmt: skip
"""What may be forbidden: verbs in their plain form, -> what that says."""
_FORBIDDING = ("dont", "do not", "never", "not to", "must not", "should not", "shouldnt", "mustnt", "to not", "and not")
_AVOIDING = (
    "without",
    "without ever",
    "no",
    "not",
    "never",
    "avoid",
    "avoiding",
    "while not",
    "with no",
    "without any",
)
_NOUNS: tuple[tuple[Mark, str], ...] = (
    (Mark(Kind.QUALITY, "no_jump"), "jumps / hops / flight phase"),
    (Mark(Kind.QUALITY, "no_flip"), "flips / somersaults"),
    (Mark(Kind.QUALITY, "steady"), "a break / breaks / pauses / a pause / interruption / interruptions"),
    (Mark(Kind.MANNER, Manner.SAVING), "much effort / a lot of effort / much energy / great effort"),
    (Mark(Kind.MANNER, Manner.SMOOTH), "jerks / jerky movements / jerky motions"),
    (Mark(Kind.MANNER, Manner.NO_FALL), "falls"),
)


def _gerund(verb: str) -> str:
    """The -ing form."""
    if verb in DOUBLED:
        return f"{verb}{verb[-1]}ing"
    if verb in ("lie",):
        return "lying"
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


DOUBLED = frozenset(
    ("run", "jog", "trot", "squat", "hop", "skip", "swim", "step", "spin", "flip", "stop", "get", "let", "sit", "tip",
     "drag", "drop", "slip", "nod", "skid", "bob", "rot", "put", "begin", "strut")
)  # fmt: skip
"""Verbs whose last letter is doubled before -ing."""


def _negations() -> Iterator[tuple[Mark, str]]:
    for mark, phrases in _NOT_TO_DO:
        for phrase in phrases.split(" / "):
            ever, _, plain = phrase.rpartition("ever ")
            first, _, rest = plain.partition(" ")
            after = f" {rest}" if rest else ""
            yield mark, " / ".join(f"{word} {ever}{first}{after}" for word in _FORBIDDING)
            yield mark, " / ".join(f"{word} {ever}{_gerund(first)}{after}" for word in _AVOIDING)
    for mark, nouns in _NOUNS:
        for noun in nouns.split(" / "):
            yield mark, f"without {noun} / with no {noun} / no {noun} / without any {noun}"


_NEGATED = tuple(_negations())

_SIZES = (
    ("small", ("small", "tiny", "short", "little")),
    ("long", ("long", "big", "large")),
)
"""Size of a step -> words for it."""
_HEADS = (
    (
        "up",
        "head up / head high / head held high / with your head up / with your head high / with your head held high / "
        "with the head up / with the head high / with its head up / with a raised head / with your nose up / "
        "with the nose up / nose up / your head up / the head up / your head high / your head held high / "
        "keeping your head up / keeping your head high / keep your head up / keep your head high / keep the head up / "
        "hold your head up / hold your head high / holding your head up / holding your head high / keep its head up / "
        "keep your nose up / keep the nose up / keeping your nose up / raise your head / with your head raised / "
        "while keeping your head up / while holding your head high / keep your head raised",
    ),
    (
        "down",
        "head down / head low / with your head down / with your head low / with the head down / with the head low / "
        "with its head down / with your nose down / with the nose down / nose down / your head down / the head down / "
        "your head low / keeping your head down / keeping your head low / keep your head down / keep your head low / "
        "hold your head low / hold your head down / lower your head / with a lowered head / keep your nose down / "
        "while keeping your head down / with your head lowered",
    ),
    (
        "still",
        "head still / with your head still / with the head still / with its head still / your head still / "
        "the head still / keeping your head still / keep your head still / hold your head still / "
        "keep the head still / holding your head still / with a still head / with a calm head / with a steady head / "
        "keep your head steady / "
        "keeping your head steady / with your head steady / while keeping your head still / keep your head calm",
    ),
)
"""How a head is held -> phrases."""


def _soft_landings() -> Iterator[str]:
    for how in ("softly", "gently", "lightly", "quietly", "smoothly", "soft"):
        for verb in ("land", "landing", "lands", "touch down", "come down", "coming down"):
            yield f"{verb} {how}"
        yield f"land {how} on your feet"
        yield f"landing {how} on your feet"
        yield f"land on your feet {how}"
    for landing in ("soft landing", "gentle landing"):
        yield from (landing, f"a {landing}", f"with a {landing}", f"with {landing}s", f"make a {landing}")


def _steps(sizes: Sequence[str]) -> Iterator[str]:
    for size in sizes:
        for noun in ("steps", "strides"):
            what = f"{size} {noun}"
            yield from (what, f"with {what}", f"in {what}", f"taking {what}", f"take {what}", f"while taking {what}")


_GROUNDS: tuple[tuple[str, str], ...] = (
    (
        "rough",
        " / ".join(
            f"{on} {rough} {ground}"
            for on in ("on", "over", "across")
            for rough in ("rough", "uneven", "bumpy")
            for ground in ("ground", "terrain")
        ),
    ),
    (
        "steps",
        " / ".join(
            f"{up} {article}{steps}"
            for up in ("up", "over", "up and down")
            for article in ("", "the ", "some ")
            for steps in ("stairs", "steps")
        ),
    ),
)
"""Kind of `Terrain` -> the phrases that ask for it."""
_PHRASES: tuple[tuple[Mark, str], ...] = (
    (Mark(Kind.SKILL, "still"), "motionless / immobile / still"),
    (Mark(Kind.SKILL, "jump"), "jumps / leaps / a jump / a leap"),
    (Mark(Kind.SKILL, "flip", Direction.BACKWARD), "backflips / back flips / backward flip / backwards flip"),
    (Mark(Kind.SKILL, "flip", Direction.BACKWARD), "backward somersault / backward flips / back somersault"),
    (Mark(Kind.SKILL, "flip", Direction.FORWARD), "frontflips / front flips / forward flip / forwards flip"),
    (Mark(Kind.SKILL, "flip", Direction.FORWARD), "forward somersault / forward flips / front somersault"),
    (Mark(Kind.SKILL, "flip"), "somersaults"),
    (Mark(Kind.SKILL, "spin"), "spins / pirouettes / twirls"),
    (Mark(Kind.SKILL, "rear"), "on your hind legs / on its hind legs / on hind legs / on the hind legs"),
    (Mark(Kind.SKILL, "balance"), "dont let the pole fall / do not let the pole fall"),
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
        "counterclockwise / counter clockwise / anticlockwise / anti clockwise / sideways to the left / sideways left",
    ),
    (
        Mark(Kind.DIRECTION, Direction.RIGHT),
        "right / rightward / rightwards / to the right / to your right / to its right / clockwise / "
        "sideways to the right / sideways right",
    ),
    (
        Mark(Kind.PACE, Pace.SLOW),
        "slowly / slow / at low speed / at a low speed / at slow speed / at a slow pace / slower / leisurely / "
        "at a slow speed / at low velocity",
    ),
    (
        Mark(Kind.PACE, Pace.MODERATE),
        "moderately / moderate / at moderate speed / at a moderate speed / at a moderate pace / at medium speed / "
        "at a medium speed / at normal speed / normally",
    ),
    (
        Mark(Kind.PACE, Pace.FAST),
        "fast / quickly / rapidly / quick / swiftly / at high speed / at a high speed / at a fast pace / faster / "
        "at high velocity / at speed",
    ),
    (
        Mark(Kind.FASTEST),
        "as fast as possible / as fast as you can / as fast as it can / as quickly as possible / as far as possible / "
        "as quickly as you can / at maximum speed / at full speed / at top speed / flat out / as far as you can / "
        "as fast as you possibly can / as fast as it possibly can / as quickly as it can / at max speed / full speed / "
        "at maximum velocity / at your fastest / at top velocity / with maximum speed / as rapidly as possible / "
        "as far as it can / at full pace",
    ),
    (Mark(Kind.VERY), "very / extremely / really / super"),
    (
        Mark(Kind.PACE, Pace.SLOW, also=("very",)),
        "as slowly as possible / as slowly as you can / as slow as possible / as slow as you can",
    ),
    (
        Mark(Kind.LEVEL, HeightLevel.LOW),
        "low / low to the ground / low to the floor / close to the ground / close to the floor / near the ground / "
        "near the floor / crouched / as low as possible / as low as you can / with a low torso",
    ),
    (Mark(Kind.LEVEL, HeightLevel.HIGH), "high / tall / up high / with a high torso"),
    (
        Mark(Kind.HIGHEST),
        "as high as possible / as high as you can / as high as it can / as tall as possible / higher / "
        "as high as you possibly can / as tall as you can",
    ),
    (Mark(Kind.REPEATEDLY), "repeatedly / again and again / over and over / several times / in a row / many jumps"),
    (Mark(Kind.REPEATEDLY), "many times / multiple times / up and down / a few times"),
    (
        Mark(Kind.TIMES, 1),
        "once / one time / single / a single / exactly once / just once / only once / only a single / exactly a single",
    ),
    (Mark(Kind.TIMES, 2), "twice / double / two times / exactly twice / just twice / only twice"),
    (Mark(Kind.TIMES, 3), "thrice / triple"),
    (Mark(Kind.TURNS, 0.25), "quarter turn / a quarter turn / quarter of a turn / a quarter of a turn"),
    (Mark(Kind.TURNS, 0.5), "half turn / half a turn / a half turn / halfway around / half way around"),
    (
        Mark(Kind.TURNS, 1.0),
        "full turn / a full turn / one full turn / full circle / a full circle / all the way around",
    ),
    (Mark(Kind.TURNS, 1.0), "a turn / a rotation / a full rotation / full rotation / in a full circle"),
    (
        Mark(Kind.MANNER, Manner.SMOOTH),
        "smoothly / smooth / gently / softly / fluently / gracefully / fluidly / with smooth motions / "
        "with smooth movements",
    ),
    (
        Mark(Kind.MANNER, Manner.SAVING),
        "with little effort / with low effort / with minimal effort / with as little effort as possible / "
        "efficiently / with little energy / using little energy / economically / energy efficiently / effortlessly / "
        "saving energy / with minimum energy / with minimal energy / with minimum effort / with the least energy / "
        "with the least effort / with low energy / using as little energy as possible / "
        "with as little energy as possible / "
        "minimizing energy / minimising energy / minimize energy / "
        "minimise energy / with least effort / minimize effort / "
        "minimizing energy consumption / minimize energy consumption / using minimum energy / using minimal energy / "
        "using little effort / with minimum power / with little power / minimizing effort / using the least energy / "
        "with low energy consumption / with minimal energy consumption / minimizing energy use / energy efficient",
    ),
    (
        Mark(Kind.MANNER, Manner.NO_FALL),
        "safely / stably / on your feet / staying on your feet / while staying on your feet / keeping your balance",
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
        "in place / on the spot / in one place / on one spot / where you are / staying where you are / "
        "while staying where you are / staying in place / while staying in place / staying on the spot / "
        "where you stand / in the same place / in the same spot / while staying on the spot / on your spot",
    ),
    (
        Mark(Kind.MANNER, Manner.STRAIGHT),
        "straight / in a straight line / in a line / along a straight line / along a line / dead straight",
    ),
    (
        Mark(Kind.MANNER, Manner.LANDING),
        "land on your feet / landing on your feet / lands on your feet / land upright / land safely / land / "
        "land again / land cleanly / stick the landing / landing upright / back on your feet / "
        "land back on your feet / finish on your feet / end on your feet / end up on your feet",
    ),
    (Mark(Kind.QUALITY, "soft_landing"), " / ".join(_soft_landings())),
    (
        Mark(Kind.QUALITY, "on_toes"),
        "on tiptoe / on tiptoes / on your toes / on your tiptoes / on the tips of your toes / on toes / on its toes / "
        "with your heels off the floor / with your heels off the ground / with your heels up / with raised heels",
    ),
    *((Mark(Kind.QUALITY, f"steps:{size}"), " / ".join(_steps(words))) for size, words in _SIZES),
    *((Mark(Kind.QUALITY, f"head:{way}"), phrases) for way, phrases in _HEADS),
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
        Mark(Kind.FIRST),
        "first / at first / first of all / to start with / to begin with / for a start / start with / begin with / "
        "starting with / beginning with / start by / begin by / starting by / beginning by",
    ),
    (
        Mark(Kind.CIRCLE),
        "in circles / in a circle / around in circles / around in a circle / in a wide circle / in a big circle",
    ),
    (Mark(Kind.DIAGONAL), "diagonally / diagonal / at an angle / in a diagonal / on a diagonal / obliquely"),
    (
        Mark(Kind.QUALITY, "faces_forward"),
        "facing forward / while facing forward / facing forwards / while facing forwards / facing ahead / "
        "while facing ahead / looking forward / while looking forward / facing straight ahead / facing the front / "
        "while facing straight ahead / looking ahead / while looking ahead / while still facing forward / "
        "still facing forward / keeping your heading / without changing your heading",
    ),
    (
        Mark(Kind.QUALITY, "no_jump"),
        "keeping your feet on the ground / keeping your feet on the floor / with your feet on the ground / "
        "with your feet on the floor / staying on the ground / staying on the floor / always touching the ground / "
        "keep your feet on the ground / keep your feet on the floor / while staying on the ground",
    ),
    (
        Mark(Kind.QUALITY, "steady"),
        "always / constantly / continuously / the whole time / all the time / whole time / until the end / nonstop / "
        "non stop / throughout / steadily / uninterruptedly / at all times / the entire time / from start to finish",
    ),
    (
        Mark(Kind.QUALITY, "no_lean"),
        "with a level trunk / with a level torso / with a level body / keeping your trunk level",
    ),
    (
        Mark(Kind.QUALITY, "no_sway"),
        "with a calm torso / with a calm trunk / with a steady torso / with a steady trunk",
    ),
    (
        Mark(Kind.QUALITY, "no_trunk"),
        "with your belly off the ground / with your belly off the floor / keeping your belly off the ground / "
        "keeping your belly off the floor / with your trunk off the floor / with your trunk off the ground / "
        "keeping your trunk off the floor / keep your belly off the floor / keep your belly off the ground",
    ),
    (
        Mark(Kind.QUALITY, "one_leg"),
        "on one leg / on just one leg / on only one leg / with one leg / using one leg / on the one leg / "
        "with one leg up / on one leg only",
    ),
    *(
        (
            Mark(Kind.QUALITY, f"leg:{side}"),
            f"on your {word} leg / on the {word} leg / on your {word} foot / "
            f"on the {word} foot / with your {word} leg / "
            f"with the {word} leg / on your {word} leg only / on the {word} leg only / using your {word} leg only / "
            f"with your {word} leg only / only on your {word} leg / only on the {word} leg / "
            f"using only your {word} leg / using only the {word} leg / on {word} leg",
        )
        for side, word in (("left", "left"), ("right", "right"), ("front", "front"), ("back", "rear"), ("back", "back"))
    ),
    *((Mark(Kind.GROUND, kind), phrases) for kind, phrases in _GROUNDS),
    *((Mark(Kind.ROBOT, envs), names) for envs, names in ROBOTS),
    (
        Mark(Kind.CONTEXT, "speed"),
        "speed / pace / velocity / at a speed of / a speed of / at a pace of / at a velocity of / "
        "with a speed of / with a velocity of / a velocity of / at speeds / at a speed / at a pace",
    ),
    (Mark(Kind.CONTEXT, "height"), "height / at a height of / a height of / to a height of / at height"),
    (Mark(Kind.CONTEXT, "torso"), "torso / body / trunk"),
    (Mark(Kind.CONTEXT, "flight"), "in the air / through the air / in mid air / in midair"),
    (Mark(Kind.CONTEXT, "direction"), "direction / in the direction / direction of"),
    (
        Mark(Kind.VAGUE, "say 'to the left' or 'to the right'"),
        "sideways / sidewards / to the side / to one side / laterally",
    ),
    *((Mark(Kind.UNMEASURED, advice), phrases) for advice, phrases in _UNMEASURED),
    *_NEGATED,
    (
        Mark(Kind.FILLER),
        "a / an / the / it / itself / you / your / yourself / please / to / and / at / with / while / but / "
        "robot / creature / agent / should / must / will / can / i want / id like / want / be / able / just / simply / "
        "of / for / in / that / which / on / keep on / me / during / could / would / now / us / this / is / "
        "him / her / so that / goal is / task is / like you to / "
        "lets / we / i / my / by / so / hey / hi / kindly / how",
    ),
)


def _words(phrase: str) -> tuple[str, ...]:
    """A phrase as split by `tokens`."""
    return tuple(with_feet([canonical(word) for word in phrase.split()]))


def _lexicon() -> dict[tuple[str, ...], Mark]:
    found: dict[tuple[str, ...], Mark] = {}
    for mark, phrases in _VERBS:
        verb = replace(mark, verb=mark.kind not in SILENT)
        for phrase in phrases.split(" / "):
            first, *rest = _words(phrase)
            # Forms of a verb: plain, with -s and with -ing.
            third = first + ("es" if first.endswith(("s", "x", "sh", "ch", "do", "go")) else "s")
            for form in (first, third, _gerund(first)):
                found.setdefault((form, *rest), verb)
            _go_on(found, verb, (_gerund(first), *rest))
    for mark, phrases in _PHRASES:
        for phrase in phrases.split(" / "):
            found.setdefault(_words(phrase), mark)
    return found


def _go_on(found: dict[tuple[str, ...], Mark], mark: Mark, doing: tuple[str, ...]) -> None:
    """ "keep running" is to run without a break, and "stop running" to stand still."""
    if mark.kind is Kind.GAIT or (mark.kind is Kind.SKILL and mark.value == "spin"):
        for begin in (("keep",), ("keep", "on"), ("continue",), ("keeps",), ("keeping",)):
            found.setdefault((*begin, *doing), replace(mark, also=(*mark.also, "steady")))
    if mark.kind in (Kind.GAIT, Kind.TURN) or (mark.kind is Kind.SKILL and mark.value in ("spin", "jump", "flip")):
        found.setdefault(("stop", *doing), Mark(Kind.SKILL, "still", verb=True))


PARTS: Mapping[str, frozenset[str]] = {
    "arm": frozenset({"arm", "uarm", "larm", "forearm", "shoulder", "elbow"}),
    "hand": frozenset({"hand", "palm", "wrist", "gripper"}),
    "gripper": frozenset({"gripper", "finger", "hand"}),
    "finger": frozenset({"finger", "fingertip", "thumb"}),
    "tail": frozenset({"tail"}),
    "wing": frozenset({"wing"}),
    "wheel": frozenset({"wheel"}),
    "ear": frozenset({"ear"}),
}
"""Part of a body that a sentence may speak of -> words that the names of bodies with it have."""


LEXICON = _lexicon()
"""Words in a row -> what they say; the longest match wins."""
LONGEST = max(len(words) for words in LEXICON)
