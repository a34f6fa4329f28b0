"""Template: follow commands of velocity, and of heading and height where a session has them.

The reward is that of legged_gym (Rudin et al., Learning to walk in minutes using massively parallel deep reinforcement
learning, 2022, table 2): exp(-error^2 / sigma) of the velocity in the heading's frame and of the yaw rate, less prices
for going up and down, effort and changing actions. The yaw rate has three quarters of the velocity's weight, where
theirs has half: with half, an ant hardly learnt to turn in 1.8 million steps (seeds 1 and 2).
"""

from math import inf, sqrt

from p2p.contracts.commands import NONE, UNITS, Commands
from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import (
    GUARD,
    at_least,
    at_most,
    below,
    has_not_fallen_at_the_end,
    off_its_trunk,
    on_feature,
    on_steps,
    stays_upright,
)
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, jerk, number, refuse, trunk
from p2p.rewards.templates.top_speeds import beyond

RESAMPLE_S = 4.0
"""Time between two commands of a sentence [s]."""
JUDGED_S = 12.0
"""Length of a judged episode: three commands [s]."""
TRAINED_S = 8.0
"""Length of a training episode: two commands [s]."""
TOP = 1.0
"""Fastest command of a sentence that gives none, as in legged_gym; less for small robots [m/s]."""
FROUDE = 0.25
"""Of a small robot at its fastest command: v^2 / (g h), at which animals still walk (Alexander, 1989)."""
ASIDE = 0.3
"""Speed of commands to the sides, as a share of that ahead."""
YAW_TOP = 1.0
"""Fastest commanded turn of a sentence, as in legged_gym [rad/s]."""
STEPS = 900_000
"""Training steps: as many as a gait of four legs."""
SPEED_SHARE = 0.25
"""Largest mean error of the velocity, as a share of the fastest command. Under commands between 0 and the fastest,
standing still misses by half, and going at the middle speed by a quarter, of what is commanded ahead alone."""
YAW_SHARE = 0.35
"""The same of the yaw rate; without turning it is missed by half."""
LEAST_SPEED = 0.1
LEAST_YAW = 0.15
"""Mean errors that are never too large: a trunk that walks sways by as much [m/s, rad/s]."""
MISSED = 0.6
"""Error of the velocity, as a share of a command to go, from which on it is not followed."""
SLOW = 0.3
"""Share of the fastest command from which on a command says to go."""
STILL = 0.25
"""The same of the speed that is still standing still, 0.2 m/s at least."""
MISSED_SHARE = 0.25
MOVING_SHARE = 0.1
"""Shares of the time in which a command to go may be missed, and one to stand: it takes a second to change over."""
SEEN = "robot_and_velocity"
"""What the policy of a robot that may turn sees: its velocity in its own frame, and not where it faces. The simulator's
state has both in the world's frame, so that what was learnt at one heading is of no use at the next."""
NO_COMMAND = 0.02
"""Commands below it say nothing [m/s, rad/s]."""
TURNING = f'np.clip(info["command_heading"], -{YAW_TOP:g}, {YAW_TOP:g})'
"""Yaw rate that is paid for where a heading is commanded [rad/s]: what is left to turn within a second, as legged_gym
makes one of a heading. Paid for where it faces, a quadruped did not learn to turn in 1.4 M steps."""
FACES = 0.35
"""Angle to where it is to face within which it faces there [rad], about 20 degrees."""
FACES_SHARE = 0.5
"""Share of the time for which it has to. Turning at 1 rad/s, it does for two thirds of the 4 s between two draws from
all round; never turning, for a fifth."""
HEIGHT_SHARE = 0.15
"""Largest mean error of the height, as a share of the range. Staying in its middle misses by a quarter."""
LEAST_HEIGHT = 0.03
"""The same as a share of the highest commanded: a trunk that walks goes up and down."""


class Follow(Template):
    """Follow velocity commands."""

    name = "follow"
    reads = frozenset({"speed_range", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """With the robot's own range and a given one."""
        del body
        return ("follow velocity commands", "follow commands up to 0.5 m/s")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot follow commands."""
        return f"{body.noun} does not walk, and cannot follow a commanded velocity"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Little error of velocity and yaw rate, on its feet; moving when told to, and standing when told to."""
        if not stage.alone:
            raise refuse("follow commands", "it does not go with other steps")
        commands = _commands(params, body)
        scale = commands.fastest or TOP
        return Plan(
            label="FollowCommands",
            summary="Following commanded velocities, on its feet",
            terms=(*alive(body), *_terms(commands, body), *trunk(body), effort(body.effort), jerk(0.05)),
            main=_follows(max(LEAST_SPEED, round(SPEED_SHARE * scale, 3)), scale),
            guards=(
                *_turns(commands, body),
                *_keeps_height(commands),
                *_moves_when_told(commands, body),
                *stays_upright(body, params),
                *off_its_trunk(body),
                *has_not_fallen_at_the_end(body, params.duration_s or JUDGED_S),
            ),
            definitions={
                **gate(body),
                "asked": _asked(body, 'info["{}"]', "np.hypot"),
                "resting": 'np.clip(info["foot_idle_time"] - 0.5, 0.0, 1.5)',
                **({"turning": TURNING} if commands.heading is not None else {}),
            },
            recipe={
                "total_timesteps": body.budgets.get("follow", STEPS),
                "terminate_when_unhealthy": body.terminates,
                "commands": commands.model_dump(mode="json", exclude_defaults=True),
                **({"observation": SEEN} if body.free else {}),
                **body.settings.get("follow", {}),
            },
            commands=commands,
            seconds=TRAINED_S,
            judged_s=params.duration_s or JUDGED_S,
        )


def _commands(params: Params, body: RobotFacts) -> Commands:
    """Ranges of the session, else of the sentence, else of the robot's size.

    Raises:
        UnknownPhrase: the sentence and the session give different ranges, or the robot cannot go that fast.
    """
    low, high = params.speed_range or (0.0, min(TOP, round(sqrt(FROUDE * 9.81 * body.standing), 1)))
    if high == inf:
        raise refuse(f"at least {low:g} m/s", "commands need a highest speed; say 'up to 1 m/s'")
    if high == 0.0:
        raise refuse("up to 0 m/s", "to stay where it is, say 'stand still'")
    if high > (limit := beyond(body)):
        raise refuse(f"{high:g} m/s", f"{body.noun} cannot go that fast; {limit:g} m/s is out of reach")
    given = body.commands
    if given is not None:
        fallen = body.upright.height if body.upright is not None else None
        if given.height is not None and fallen is not None and given.height[0] < fallen:
            raise UnknownPhrase(
                f"A height of {given.height[0]:g} m is commanded, and {body.noun} counts as fallen below {fallen:g} m. "
                "Raise the lowest height in commands.",
                Refusal.CONFLICT,
                (f"{given.height[0]:g} m",),
            )
        if params.speed_range is not None and given.range_of("velocity_x") != (low, high):
            raise UnknownPhrase(
                f"Commands from {low:g} to {high:g} m/s are asked for, and the configuration's commands give "
                f"velocity_x {list(given.range_of('velocity_x'))}. Leave one of them out.",
                Refusal.CONFLICT,
                (f"{high:g} m/s",),
            )
        return given
    side = round(ASIDE * high, 3)
    return Commands(
        velocity_x=(low, high),
        velocity_y=(-side, side) if body.has("lateral_velocity") else NONE,
        yaw_rate=(-YAW_TOP, YAW_TOP) if body.has("yaw_rate") else NONE,
        resample_s=RESAMPLE_S,
    )


def _asked(body: RobotFacts, read: str, hypot: str) -> str:
    """Expression for the speed that is commanded: in Python, or as a feature.

    Args:
        body: The robot.
        read: How a feature is read, with braces for its name.
        hypot: The function of that name.
    """
    ahead = read.format("command_velocity_x")
    if not body.has("lateral_velocity"):
        return f"abs({ahead})"
    return f"{hypot}({ahead}, {read.format('command_velocity_y')})"


def _terms(commands: Commands, body: RobotFacts) -> list[Term]:
    u = gate_latex(body)
    speed = max(0.1, round(0.5 * (commands.fastest or TOP), 3))
    near = 'np.exp(-((info["{}"] / {{margin}}) ** 2))'
    found = [
        Term(
            "velocity",
            1.5 * body.main_weight,
            f"upright * {near.format('velocity_error')}",
            rf"{u}\exp(-(e_v/{speed:g})^2)",
            "moving at the commanded velocity",
            margin=speed,
        )
    ]
    if commands.heading is not None:
        found.append(
            Term(
                "turn",
                0.75 * body.main_weight,
                'upright * np.exp(-(((info["yaw_rate"] - turning) / {margin}) ** 2))',
                rf"{u}\exp(-((\omega_z - \mathrm{{clip}}(\psi, -1, 1))/0.5)^2)",
                "turning to where it is told to face",
                margin=0.5,
            )
        )
    elif body.has("yaw_rate"):
        turn = max(0.1, round(0.5 * (commands.top("yaw_rate") or YAW_TOP), 3))
        found.append(
            Term(
                "turn",
                1.1 * body.main_weight,
                f"upright * {near.format('yaw_rate_error')}",
                rf"{u}\exp(-(e_\omega/{turn:g})^2)",
                "turning at the commanded rate",
                margin=turn,
            )
        )
    if commands.height is not None:
        margin = 2.0 * _height_limit(commands.height)
        found.append(
            Term(
                "level",
                0.75 * body.main_weight,
                f"upright * {near.format('height_error')}",
                rf"{u}\exp(-(e_z/{margin:g})^2)",
                "having the commanded height",
                margin=margin,
            )
        )
    if body.has("velocity_z"):
        penalty = 'np.clip(info["velocity_z"] ** 2, 0.0, 1.0)'
        found.append(Term("bounce", 0.5, penalty, r"\dot z^2", "penalty for going up and down", sign=-1))
    if body.has("foot_idle_time") and body.feet > 1 and commands.fastest:
        slow = number(SLOW * commands.fastest)
        penalty = f"np.clip(asked / {slow}, 0.0, 1.0) * resting"
        latex = rf"\mathrm{{clip}}(c/{slow}, 0, 1)\,\mathrm{{clip}}(t_f - 0.5, 0, 1.5)"
        found.append(Term("idle_leg", 0.2, penalty, latex, "penalty for a leg that rests while it is to go", sign=-1))
    return found


def _follows(limit: float, scale: float) -> Criterion:
    words = "horizontal velocity and the command, in the heading's frame"
    return _misses("follows_velocity", "velocity", words, limit, scale / 2.0).model_copy(update={"weight": 2.0})


def _turns(commands: Commands, body: RobotFacts) -> tuple[Criterion, ...]:
    if not body.has("yaw_rate"):
        return ()
    if commands.heading is not None:
        return (
            Criterion(
                key="faces_where_told",
                title=f"Faces where it is told for {FACES_SHARE:.0%} of the time",
                description=f"For {FACES_SHARE:.0%} of the time or more it has {FACES:g} rad or less left to turn.",
                category=Category.GAIT,
                predicate=on_steps(
                    Statistic.FRACTION, (at_most("heading_error", FACES),), Band(FACES_SHARE), margin=0.5
                ),
            ),
        )
    scale = commands.top("yaw_rate") or YAW_TOP
    limit = max(LEAST_YAW, round(YAW_SHARE * scale, 3))
    return (_misses("turns_as_told", "yaw_rate", "yaw rate and the command", limit, scale / 2.0),)


def _keeps_height(commands: Commands) -> tuple[Criterion, ...]:
    if commands.height is None:
        return ()
    limit = _height_limit(commands.height)
    found = _misses("height_as_told", "height", "torso's height and the command", limit, 3.0 * limit)
    return (found.model_copy(update={"category": Category.POSTURE}),)


def _misses(key: str, command: str, difference: str, limit: float, margin: float) -> Criterion:
    """Bound on the mean error of a command.

    Args:
        key: Of the criterion.
        command: Of which the feature `<command>_error` is read.
        difference: What differs, in words.
        limit: Largest mean error, in the command's unit.
        margin: Beyond it, over which credit falls.
    """
    unit = UNITS.get(command, "m/s")
    return Criterion(
        key=key,
        title=f"Misses the commanded {command.replace('_', ' ')} by {limit:g} {unit} or less",
        description=f"Mean size of the difference of its {difference}, at most {limit:g} {unit}.",
        category=Category.GAIT,
        predicate=on_feature(Statistic.MEAN, f"{command}_error", below(limit), unit, margin=round(margin, 3)),
    )


def _height_limit(heights: tuple[float, float]) -> float:
    low, high = heights
    return round(max(HEIGHT_SHARE * (high - low), LEAST_HEIGHT * high), 3)


def _moves_when_told(commands: Commands, body: RobotFacts) -> list[Criterion]:
    """Stops one speed for all commands from passing: standing, or going at the middle speed."""
    asked = _asked(body, "{}", "hypot")
    found = []
    if commands.fastest:
        slow = round(SLOW * commands.fastest, 3)
        where = (at_least(asked, slow), at_least(f"velocity_error - {MISSED:g}*{asked}", 0.0))
        found.append(
            Criterion(
                key="goes_when_told",
                title="Goes when it is told to",
                description=f"While a speed of {slow:g} m/s or more is commanded, the velocity is missed by "
                f"{MISSED:.0%} of it or more, for {MISSED_SHARE:.0%} of the time at most.",
                category=Category.GAIT,
                predicate=on_steps(Statistic.FRACTION, where, below(MISSED_SHARE), margin=0.5),
            )
        )
    if commands.stand_share:
        still = round(max(0.2, STILL * commands.fastest), 3)
        told, most = ("command_yaw_rate", NO_COMMAND) if commands.heading is None else ("command_heading", FACES)
        turning = (at_most(told, most).model_copy(update={"absolute": True}),)
        where = (
            at_most(asked, NO_COMMAND),
            *(turning if body.has("yaw_rate") else ()),
            at_least("speed", still),
        )
        found.append(
            Criterion(
                key="stands_when_told",
                title="Stands when it is told to",
                description=f"While nothing is commanded, it moves at {still:g} m/s or more for {MOVING_SHARE:.0%} of "
                "the time at most.",
                category=Category.STABILITY,
                predicate=on_steps(Statistic.FRACTION, where, below(MOVING_SHARE), margin=0.3),
                weight=GUARD,
            )
        )
    return found
