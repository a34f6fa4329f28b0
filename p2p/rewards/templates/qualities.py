"""Qualities: how a skill is done, or must not be done, as additions to its plan.

Each quality measures one phrase, such as "without jumping" or "while facing forward". It adds a criterion, and where
it helps a term of the reward, and it refuses where this robot has nothing to measure it by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from p2p.contracts.intent import Bound, Category, Combination, Comparand, Comparison, Predicate, Statistic, Window
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import along_its_heading, at_least, at_most, below, between, on_feature, on_steps
from p2p.rewards.templates.jump_criteria import clearance_of
from p2p.rewards.templates.part_qualities import PART_KEYS, PART_QUALITIES
from p2p.rewards.templates.plan import Plan, Stage, Term
from p2p.rewards.templates.quality import EITHER, SETTLED, Addition, Quality, Use, criterion_of, in_words, mostly, never
from p2p.rewards.templates.skill import Direction, Manner, Skill
from p2p.rewards.templates.terms import height_band
from p2p.rewards.templates.waving import WAVING, WAVING_KEYS

OFF_THE_FLOOR = 0.03
"""Clearance of a jump [m]; feet that vibrate leave the floor by less."""
FACING = 0.125
"""How far it may be turned and still face forward [turns]."""
LEVEL_UP = 0.95
"""Up-vector of a trunk that does not lean."""
SWAY_RATE = 1.0
"""Rate of a trunk that does not sway [rad/s]."""
STEADY_SHARE = 0.9
ALONG_LINE = 0.5
"""How far beside its line a straight course may lead [m]."""
LEGS: Mapping[str, Mapping[str, str]] = {
    "Walker2d-v5": {"left": "contact_foot_left_geom", "right": "contact_foot_geom"},
    "Humanoid-v5": {"left": "contact_left_foot", "right": "contact_right_foot"},
    "HalfCheetah-v5": {"back": "contact_bfoot", "front": "contact_ffoot"},
}
"""Environment -> leg -> feature of its foot."""
_STEPPING = frozenset({"uses_its_legs", "idle_leg"})
"""Criterion and term that ask every leg to step."""
_BOTH_FEET = frozenset({"keeps_feet_down"})
"""Criterion that asks both feet of a robot that stands still to be down."""
ONE_LEG = 0.95
"""Asymmetry of two feet of which one alone is used: that of the time they are on the floor."""
_OTHER = {"left": "right", "right": "left", "back": "front", "front": "back"}


def with_all_qualities(plans: Sequence[Plan], skills: Sequence[Skill], body: RobotFacts) -> tuple[Plan, ...]:
    """Plans of a sentence's steps with all qualities.

    Raises:
        UnknownPhrase: a phrase contradicts the skill, or is not measured on this robot or in this step.
    """
    last = len(plans) - 1
    return tuple(
        with_qualities(plan, skill, body, Stage(first=index == 0, last=index == last))
        for index, (plan, skill) in enumerate(zip(plans, skills, strict=True))
    )


def with_qualities(plan: Plan, skill: Skill, body: RobotFacts, stage: Stage) -> Plan:
    """Plan with all its qualities.

    Raises:
        UnknownPhrase: a phrase contradicts the skill, or is not measured on this robot.
    """
    for name in sorted(skill.params.qualities):
        kind, _, value = name.partition(":")
        plan = _with(plan, QUALITIES[kind], value, skill, body, stage)
    if Manner.STRAIGHT in skill.params.manners and body.has("displacement_y"):
        plan = _with(plan, QUALITIES["straight"], "", skill, body, stage)
    return plan


_DOING = {"posture": "hold a posture", "still": "stand still", "rear": "stand on the hind legs"}
"""Skills that are no verbs -> what one does."""


def _with(plan: Plan, quality: Quality, value: str, skill: Skill, body: RobotFacts, stage: Stage) -> Plan:
    use = Use(quality.phrase(value), value, skill, plan, body, stage)
    if quality.skills and skill.name not in quality.skills:
        meant = " or ".join(_DOING.get(name, name.replace("_", " ")) for name in sorted(quality.skills))
        raise use.conflict(f"it says how to {meant}")
    if skill.params.gait in quality.gaits_not:
        raise use.conflict(f"to {skill.params.gait} is to do that")
    if not stage.last or (quality.alone and not stage.alone):
        raise use.unmeasured("in a sequence it can only be said of the last step, and of a course only without 'then'")
    added = quality.build(use)
    recipe = {**plan.recipe, **added.recipe}
    before, more = (found.get("curriculum") for found in (plan.recipe, added.recipe))
    if isinstance(before, Mapping) and isinstance(more, Mapping):
        recipe["curriculum"] = {**before, **more}
    if added.fewest_steps:
        recipe["total_timesteps"] = max(int(str(recipe["total_timesteps"])), added.fewest_steps)
    return replace(
        plan,
        main=added.main or plan.main,
        guards=(*(g for g in plan.guards if g.key not in added.without), *added.criteria),
        terms=(*(t for t in plan.terms if t.name not in added.without), *added.terms),
        definitions={**plan.definitions, **added.definitions},
        recipe=recipe,
        summary=plan.summary + (f", {added.summary}" if added.summary else ""),
    )


def _no_jump(use: Use) -> Addition:
    use.need("airborne", "clearance")
    where = (at_least("airborne", 0.5), at_least("clearance", OFF_THE_FLOOR))
    fine = Term(
        "flight", 0.3, 'info["airborne"] * (info["clearance"] > 0.03)', "f", "penalty for leaving the floor", sign=-1
    )
    return Addition((never("stays_on_floor", "Does not leave the floor", where),), (fine,))


def _no_flip(use: Use) -> Addition:
    use.need("up")
    found = criterion_of(
        "never_turns_over",
        "Does not turn over",
        "It is never upside down (up-vector at most 0).",
        Category.STABILITY,
        on_steps(Statistic.COUNT_EVENTS, (at_most("up", 0.0),), below(0.0), margin=1.0),
    )
    return Addition((found,))


def _faces_forward(use: Use) -> Addition:
    feature = "yaw_turns" if use.body.has("yaw_turns") else "pitch_turns"
    use.need(feature)
    rate = feature.replace("turns", "rate")
    found = mostly("faces_forward", "Faces forward", (between(feature, -FACING, FACING),))
    fine = Term(
        "facing", 0.2, f'np.clip(abs(info["{feature}"]) * 4.0, 0.0, 1.0)', r"\mathrm{clip}(4|\psi|, 0, 1)",
        "penalty for facing elsewhere", sign=-1,
    )  # fmt: skip
    return Addition((found,), (fine,) if use.body.has(rate) else ())


def _no_turn(use: Use) -> Addition:
    return _faces_forward(use)


def _steady(use: Use) -> Addition:
    main = use.plan.main.predicate
    if use.skill.name == "posture" and main is not None and main.where:
        where = main.where
    elif use.skill.name == "spin":
        use.need("yaw_rate")
        if use.body.swims:
            raise use.impossible("what swims turns by swinging to and fro")
        way = use.skill.params.direction
        turning = at_most("yaw_rate", -0.3) if way is Direction.RIGHT else at_least("yaw_rate", 0.3)
        where = (turning.model_copy(update={"absolute": way is None}),)
    elif use.skill.name == "move" and main is not None and main.feature is not None:
        where = (_half_of(main),)
    elif use.skill.name == "still":
        use.need("speed")
        where = (at_most("speed", 0.25),)
    else:
        raise use.unmeasured("it is measured of moving, turning, standing still and holding a posture")
    window = Window(last_share=0.8)
    found = criterion_of(
        "without_a_break",
        "Does it without a break",
        f"{in_words(where)} in {STEADY_SHARE:.0%} of the steps of the last 80%.",
        Category.DYNAMICS,
        on_steps(Statistic.FRACTION, where, Band(STEADY_SHARE), margin=0.4, window=window),
    )
    return Addition((found,))


def _half_of(main: Predicate) -> Bound:
    """Half of the main speed, at one step."""
    assert main.feature is not None, "a movement is judged by a velocity"
    ends = [end for end in (main.threshold, main.upper) if end is not None]
    slow = min(ends, key=abs)
    if main.comparison is Comparison.AT_MOST and main.threshold > 0:
        return at_least(main.feature, round(0.2 * main.threshold, 3))
    half = round(0.5 * slow, 3)
    return at_least(main.feature, half) if slow > 0 else at_most(main.feature, half)


def _no_sway(use: Use) -> Addition:
    rates = [name for name in ("roll_rate", "pitch_rate", "yaw_rate") if use.body.has(name)]
    if not rates:
        raise use.unmeasured(f"{use.body.noun} has no trunk that sways")
    found = mostly(
        "does_not_sway", "Keeps its trunk calm", tuple(between(rate, -SWAY_RATE, SWAY_RATE) for rate in rates)
    )
    sizes = " + ".join(f'abs(info["{rate}"])' for rate in rates)
    fine = Term(
        "sway", 0.1, f"np.clip({sizes}, 0.0, 5.0)", r"\mathrm{clip}(|\omega|, 0, 5)", "penalty for swaying", sign=-1
    )
    return Addition((found,), (fine,))


def _no_lean(use: Use) -> Addition:
    use.need("up")
    found = mostly("does_not_lean", "Does not lean", (at_least("up", LEVEL_UP),))
    pay = Term(
        "level", 0.3, 'tolerance(info["up"], 0.97, 1.0, {margin})', r"\mathrm{tol}(u_z; 0.97, 1)",
        "a trunk that does not lean", margin=0.3,
    )  # fmt: skip
    return Addition((found,), (pay,))


def _no_trunk(use: Use) -> Addition:
    use.need("torso_contact")
    found = never("trunk_off_floor", "Keeps its trunk off the floor", (at_least("torso_contact", 0.5),))
    fine = Term("trunk", 0.3, 'info["torso_contact"]', "c_t", "penalty for touching the floor with the trunk", sign=-1)
    return Addition((found,), (fine,))


def _no_crouch(use: Use) -> Addition:
    use.need("height")
    low = round(use.body.low, 3)
    band = height_band(use.skill.params, use.body)
    if band is not None and band.high <= low:
        raise use.conflict(f"at {band.high:g} m or lower {use.body.noun} crouches")
    return Addition((never("does_not_crouch", "Does not crouch", (at_most("height", low),)),))


def _no_slide(use: Use) -> Addition:
    use.need("feet_down")
    found = criterion_of(
        "lifts_feet_often",
        "Lifts its feet instead of sliding",
        "In 30% of the steps or more at least one foot is off the floor.",
        Category.GAIT,
        on_steps(Statistic.FRACTION, (at_most("feet_down", 0.99),), Band(0.3), margin=0.3),
    )
    return Addition((found,))


def _slides(use: Use) -> Addition:
    use.need("feet_down")
    found = mostly("slides", "Keeps its feet on the floor", (at_least("feet_down", 0.99),))
    pay = Term("feet_down", 0.3, 'info["feet_down"]', "c_f", "feet on the floor")
    return Addition((found,), (pay,), without=_STEPPING)


def _straight(use: Use) -> Addition:
    direction = use.skill.params.direction or Direction.FORWARD
    across = "y" if direction in (Direction.FORWARD, Direction.BACKWARD) else "x"
    use.need(f"displacement_{across}")
    where = (between(f"displacement_{across}", -ALONG_LINE, ALONG_LINE),)
    return Addition((mostly("straight_course", f"Stays within {ALONG_LINE:g} m of its line", where),))


def _leg(use: Use) -> Addition:
    """On a named leg: the other foot never touches the floor."""
    legs = LEGS.get(use.body.env_id)
    if legs is None or use.value not in legs:
        raise use.unmeasured(f"{use.body.noun} has no foot of that name that is measured")
    other = legs[_OTHER[use.value]]
    found = never(f"on_{use.value}_leg", f"Uses its {use.value} leg alone", (at_least(other, 0.5),))
    used = criterion_of(
        f"{use.value}_foot_down",
        f"Stands on its {use.value} foot",
        f"The {use.value} foot is on the floor in 10% of the steps or more.",
        Category.GAIT,
        on_steps(Statistic.FRACTION, (at_least(legs[use.value], 0.5),), Band(0.1), margin=0.1, window=SETTLED),
    )
    fine = Term(
        "other_foot", 0.5, f'info["{other}"]', "c_o", "penalty for touching the floor with the other foot", sign=-1
    )
    return Addition((found, used), (fine,), without=_STEPPING | _BOTH_FEET)


def _one_leg(use: Use) -> Addition:
    """On either leg: one of two feet is down, or, in locomotion, one of them never is."""
    legs = LEGS.get(use.body.env_id, {})
    if set(legs) != {"left", "right"}:
        raise use.unmeasured(f"{use.body.noun} does not stand on one of two legs")
    if use.skill.name in ("move", "jump"):
        return _either_leg(*legs.values())
    where = (between("feet_down", 0.4, 0.6),)
    pay = Term(
        "one_foot", 0.5, 'tolerance(info["feet_down"], 0.45, 0.55, {margin})', r"\mathrm{tol}(c_f; 0.45, 0.55)",
        "one foot on the floor", margin=0.4,
    )  # fmt: skip
    return Addition((mostly("on_one_leg", "Stands on one leg", where),), (pay,), without=_BOTH_FEET)


def _either_leg(left: str, right: str) -> Addition:
    """On either leg: one foot carries, and the other never touches the floor."""
    down = {
        foot: {"statistic": Statistic.FRACTION, "where": (at_least(foot, 0.5),), "window": SETTLED}
        for foot in (left, right)
    }
    found = criterion_of(
        "on_one_leg",
        "Uses one leg alone",
        "After the first half second the time that one foot is on the floor is at most 5% of that of the other.",
        Category.GAIT,
        Predicate(
            **down[left],
            versus=Comparand(**down[right], combination=Combination.ASYMMETRY),
            comparison=Comparison.AT_LEAST,
            threshold=ONE_LEG,
            unit="1",
            margin=1.0,
        ),
    )
    shares = ", ".join(f'info["stance_share:{foot.removeprefix("contact_")}"]' for foot in (left, right))
    fine = Term(
        "other_foot", 0.5, f"np.clip(4.0 * np.minimum({shares}), 0.0, 1.0)", r"\mathrm{clip}(4 \min s, 0, 1)",
        "penalty for using the leg that is used less", sign=-1,
    )  # fmt: skip
    return Addition((found,), (fine,), without=_STEPPING | _BOTH_FEET)


def _at_most(use: Use) -> Addition:
    """No more counted events than a number."""
    limit = float(use.value)
    if use.skill.name == "jump":
        clearance = round(clearance_of(use.plan) / 2, 4)
        predicate = on_steps(
            Statistic.COUNT_EVENTS,
            (at_least("clearance", clearance),),
            below(limit),
            margin=1.0,
            window=_on_the_floor_first(),
        )
        words = f"Its lowest point rises {clearance:g} m above the floor at most {limit:g} times."
    else:
        feature = "pitch_turns" if use.skill.name == "flip" else "yaw_turns"
        use.need(feature)
        edge = limit + 0.5
        where = (between(feature, -edge, edge),)
        predicate = on_steps(Statistic.FRACTION, where, Band(1.0), margin=0.2)
        words = f"It never turns by more than {edge:g} turns."
    title = f"Does it at most {limit:g} {'time' if limit == 1 else 'times'}"
    return Addition((criterion_of("no_more_than_asked", title, words, Category.DYNAMICS, predicate),))


def _on_the_floor_first() -> Window:
    return Window(after=(at_most("airborne", 0.5),))


def _at_most_high(use: Use) -> Addition:
    """No jump higher than a number."""
    use.need("clearance")
    limit = float(use.value)
    predicate = on_feature(
        Statistic.MAX, "clearance", below(limit), "m", margin=round(max(limit, 0.05), 3), window=_on_the_floor_first()
    )
    words = f"The lowest point of the whole robot never rises more than {limit:g} m above where it rests."
    found = criterion_of("no_higher", f"Jumps no higher than {limit:g} m", words, Category.DYNAMICS, predicate)
    fine = Term(
        "too_high", 1.0, f'np.clip(info["clearance"] - {limit:g}, 0.0, 1.0)', rf"\mathrm{{clip}}(h - {limit:g}, 0, 1)",
        "penalty for jumping too high", sign=-1,
    )  # fmt: skip
    return Addition((found,), (fine,))


def _jump_way(use: Use) -> Addition:
    """A jump forward or backward: in the air and moving that way at once."""
    use.need("clearance", "velocity_x", "displacement_x")
    sign = 1 if use.value == "forward" else -1
    speed = at_least("velocity_x", 0.5) if sign > 0 else at_most("velocity_x", -0.5)
    half = round(clearance_of(use.plan) / 2, 4)
    flies = criterion_of(
        f"jumps_{use.value}",
        f"Moves {use.value} while it is in the air",
        f"For 0.1 s without a break its lowest point is {half:g} m above where it rests while it moves {use.value} at "
        "0.5 m/s or faster.",
        Category.DYNAMICS,
        on_steps(Statistic.LONGEST_HOLD, (at_least("clearance", half), speed), Band(0.1), margin=0.1),
    )
    place = Band(0.2) if sign > 0 else below(-0.2)
    lands = criterion_of(
        f"lands_{use.value}",
        f"Comes down 0.2 m or more {use.value} of its start",
        f"At the end it is 0.2 m or more {use.value} of where it started.",
        Category.DYNAMICS,
        on_feature(Statistic.FINAL, "displacement_x", place, "m", margin=0.5),
    )
    way = "" if sign > 0 else "-"
    pay = Term(
        "onward", 0.5, f'(info["clearance"] > 0.02) * np.clip({way}info["velocity_x"], -1.0, 2.0)',
        rf"[h > 0.02]\,\mathrm{{clip}}({way}v_x, -1, 2)", f"moving {use.value} in the air",
    )  # fmt: skip
    return Addition((flies, lands), (pay,), without=frozenset({"stays_in_place", "drift", "slip"}), summary=use.value)


def _diagonal(use: Use) -> Addition:
    """Forward (or backward) and sideways at once, at similar speeds."""
    use.need("velocity_y")
    main = use.plan.main.predicate
    if main is None or main.feature != "velocity_x":
        raise use.conflict("say 'diagonally forward left', or another corner")
    ends = [end for end in (main.threshold, main.upper) if end is not None]
    slow = min(abs(end) for end in ends)
    low = round(0.6 * slow, 3)
    left = use.value != "right"
    along = Band(low) if main.threshold > 0 else below(-low)
    forth = use.plan.main.model_copy(
        update={
            "title": use.plan.main.title.split(" at ")[0] + f" at {low:g} m/s or more",
            "description": f"The mean velocity along it is {low:g} m/s or more, which is the share of a diagonal.",
            "predicate": on_feature(Statistic.MEAN, "velocity_x", along, "m/s", margin=low),
        }
    )
    across = criterion_of(
        f"moves_{use.value}_too",
        f"Moves {use.value} at {low:g} m/s or more at the same time",
        f"The mean velocity to the {use.value} is {low:g} m/s or more.",
        Category.GAIT,
        on_feature(Statistic.MEAN, "velocity_y", Band(low) if left else below(-low), "m/s", margin=low),
    )
    if use.value == EITHER:
        way_m = round(low * use.plan.judged_s, 2)
        across = criterion_of(
            "moves_sideways_too",
            f"Moves to one side at {low:g} m/s or more at the same time",
            f"At the end it is {way_m:g} m or more to the left or to the right of where it started: a mean velocity "
            f"of {low:g} m/s.",
            Category.GAIT,
            on_feature(Statistic.FINAL, "displacement_y", Band(way_m), "m", margin=way_m).model_copy(
                update={"absolute": True}
            ),
        )
    way, side = ("", "left") if left else ("-", "right")
    pay = Term(
        f"also_{side}", 1.0, f'np.clip({way}info["velocity_y"], -1.0, {max(1.0, low)})',
        rf"\mathrm{{clip}}({way}v_y, -1, {max(1.0, low):g})", f"moving {side} at the same time",
    )  # fmt: skip
    return Addition((across,), (pay,), without=frozenset({"keeps_line", "sideways"}), main=forth, summary=use.value)


def _circle(use: Use) -> Addition:
    """Along its heading, in circles wider than a spin."""
    use.need("yaw_turns", "forward_velocity", "displacement")
    sign, side = (-1, "right") if use.value == "right" else (1, "left")
    words = "either side" if use.value == EITHER else f"the {side}"
    main = use.plan.main.predicate
    ends = [end for end in (main.threshold, main.upper) if end is not None] if main is not None else []
    slow = round(0.5 * min((abs(end) for end in ends), default=0.2), 3)
    onward = use.plan.main.model_copy(
        update={
            "key": "moves_along_heading",
            "title": f"Moves along its heading at {slow:g} m/s or more",
            "description": f"The mean velocity along its own heading is {slow:g} m/s or more.",
            "predicate": on_feature(Statistic.MEAN, "forward_velocity", Band(slow), "m/s", margin=slow),
        }
    )
    rounds = criterion_of(
        "goes_round",
        f"Goes round once or more, to {words}",
        "It turns once or more about the vertical, and leaves its start by 0.5 m or more on the way.",
        Category.GAIT,
        on_feature(Statistic.MAX if sign > 0 else Statistic.MIN, "yaw_turns", Band(1.0) if sign > 0 else below(-1.0),
                   "turns", margin=1.0).model_copy(update={"absolute": use.value == EITHER}),
    )  # fmt: skip
    out = criterion_of(
        "leaves_the_spot",
        "Leaves the spot: it is a circle, no spin",
        "At some moment it is 0.5 m or more from its start.",
        Category.GAIT,
        on_feature(Statistic.MAX, "displacement", Band(0.5), "m", margin=0.5),
    )
    way = "" if sign > 0 else "-"
    onto = tuple(
        along_its_heading(guard, "Along its own heading.") for guard in use.plan.guards if guard.key == "gets_on"
    )
    drop = frozenset(
        {"keeps_line", "keeps_moving", "keeps_going", "keeps_heading", "sideways", "heading", "forward", "backward"}
    ) | {guard.key for guard in onto}
    pay = (
        Term("heading", 1.0, f'np.clip(info["forward_velocity"], -1.0, {max(1.0, 2 * slow):g})',
             r"\mathrm{clip}(v_h, -1, 1)", "moving along its heading"),
        Term("round", 0.5, f'np.clip({way}info["yaw_rate"], -1.0, 1.5)', rf"\mathrm{{clip}}({way}\omega_z, -1, 1.5)",
             f"turning {side}"),
    )  # fmt: skip
    return Addition((*onto, rounds, out), pay, without=drop, main=onward, summary=f"in a circle to {words}")


_MOVE = frozenset({"move"})
_FACES = frozenset({"move", "still", "jump", "posture"})
_HOP = frozenset({"hop", "gallop", "bound"})
_GROUNDED = frozenset({"move", "still", "posture", "spin", "rear", "stand_up"})

QUALITIES: dict[str, Quality] = {
    "no_jump": Quality("without leaving the floor", _no_jump, _GROUNDED, _HOP),
    "no_flip": Quality("without turning over", _no_flip, _GROUNDED | {"jump"}),
    "faces_forward": Quality(
        "facing forward", _faces_forward, frozenset({"move", "still", "jump", "posture"}), alone=True
    ),
    "no_turn": Quality("without turning", _no_turn, _FACES, alone=True),
    "steady": Quality("without stopping", _steady, frozenset({"move", "spin", "still", "posture"})),
    "no_sway": Quality("without swaying", _no_sway, _GROUNDED - {"spin", "stand_up"}),
    "no_lean": Quality("without leaning", _no_lean, (_GROUNDED | {"jump"}) - {"rear", "stand_up"}),
    "no_trunk": Quality("without touching the floor with the trunk", _no_trunk, (_GROUNDED | {"jump"}) - {"stand_up"}),
    "no_crouch": Quality("without crouching", _no_crouch, _GROUNDED - {"stand_up"}, frozenset({"crawl"})),
    "no_slide": Quality("without sliding", _no_slide, _MOVE),
    "slides": Quality("sliding", _slides, _MOVE, _HOP),
    "straight": Quality("in a straight line", _straight, _MOVE, alone=True),
    "leg": Quality("on the % leg", _leg, frozenset({"still", "posture", "jump", "move"})),
    "one_leg": Quality("on one leg", _one_leg, frozenset({"still", "posture", "jump", "move"})),
    "at_most": Quality("at most % times", _at_most, frozenset({"jump", "flip", "spin"})),
    "at_most_high": Quality("at most % m high", _at_most_high, frozenset({"jump"})),
    "jump_way": Quality("jump %", _jump_way, frozenset({"jump"}), alone=True),
    "diagonal": Quality("diagonally to the %", _diagonal, _MOVE, alone=True),
    "circle": Quality("in a circle to the %", _circle, _MOVE, alone=True),
    **PART_QUALITIES,
    **WAVING,
}
"""Name -> what it adds."""

KEYS = frozenset({
    "stays_on_floor", "never_turns_over", "faces_forward", "without_a_break", "does_not_sway", "does_not_lean",
    "trunk_off_floor", "does_not_crouch", "lifts_feet_often", "slides", "on_one_leg", "no_more_than_asked",
    "no_higher", *PART_KEYS, *WAVING_KEYS,
})  # fmt: skip
"""Criteria that are measured from the step before on, where there is one."""
