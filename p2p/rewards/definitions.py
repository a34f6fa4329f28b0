"""Definition of each feature: unit, frame and sign, and the robots that have it."""

from enum import StrEnum

from p2p.contracts.commands import COMMAND_FEATURES, Commands
from p2p.contracts.env import EnvSpec, Feature, Morphology


class TorsoFreedom(StrEnum):
    """Degrees of freedom of a robot's torso in the world."""

    FREE = "free"
    """In all six directions."""
    VERTICAL = "vertical"
    """In the x-z plane: forward, up, and pitch."""
    HORIZONTAL = "horizontal"
    """In the x-y plane: forward, sideways, and yaw."""
    FIXED = "fixed"
    """Not by itself: an arm, or a cart on a rail."""


_SOLID = (TorsoFreedom.FREE, TorsoFreedom.VERTICAL)
_FLAT = (TorsoFreedom.FREE, TorsoFreedom.HORIZONTAL)
_MOBILE = (TorsoFreedom.FREE, TorsoFreedom.VERTICAL, TorsoFreedom.HORIZONTAL)
_ALL = tuple(TorsoFreedom)

_DEFINITIONS: tuple[tuple[str, str, str, str, tuple[TorsoFreedom, ...]], ...] = (
    ("time", "s", "-", "Time since the episode's start.", _ALL),
    ("position_x", "m", "world", "x of the torso's frame.", _MOBILE),
    ("position_y", "m", "world", "y of the torso's frame.", _FLAT),
    ("height", "m", "world", "z of the torso's frame.", _SOLID),
    ("velocity_x", "m/s", "world", "Change of position_x over the last control step.", _MOBILE),
    ("velocity_y", "m/s", "world", "Change of position_y over the last control step.", _FLAT),
    ("velocity_z", "m/s", "world", "Change of height over the last control step, positive upwards.", _SOLID),
    ("speed", "m/s", "world", "Horizontal speed of the torso, never negative.", _MOBILE),
    ("displacement_x", "m", "world", "position_x minus its value at the episode's start.", _MOBILE),
    ("displacement_y", "m", "world", "position_y minus its value at the episode's start.", _FLAT),
    ("displacement", "m", "world", "Horizontal distance from the episode's start, never negative.", _MOBILE),
    ("forward_velocity", "m/s", "heading", "Horizontal velocity along the heading, positive forwards.", _MOBILE),
    ("lateral_velocity", "m/s", "heading", "Horizontal velocity across the heading, positive to the left.", _FLAT),
    ("roll", "rad", "world", "Positive with the right side down, in [-pi/2, pi/2].", (TorsoFreedom.FREE,)),
    ("pitch", "rad", "heading", "Positive with the nose up, in [-pi, pi]; pi is upside down.", _SOLID),
    ("yaw", "rad", "world", "Heading, positive to the left (counter-clockwise from above), in [-pi, pi].", _FLAT),
    ("up", "1", "world", "z of the torso's up-vector: 1 upright, 0 on its side, -1 upside down.", _SOLID),
    ("rotation_x", "rad", "world", "Rotation about the world's x axis since the start, summed.", (TorsoFreedom.FREE,)),
    ("rotation_y", "rad", "world", "Rotation about the world's y axis since the start, summed; nose down +.", _SOLID),
    ("rotation_z", "rad", "world", "Rotation about the world's z axis since the start, summed; left +.", _FLAT),
    (
        "roll_turns",
        "turns",
        "heading",
        "Turns about the heading since the start, positive to the right.",
        (TorsoFreedom.FREE,),
    ),
    ("pitch_turns", "turns", "heading", "Flips since the start: backward (nose up) +, forward -.", _SOLID),
    ("yaw_turns", "turns", "world", "Turns about the vertical since the start, positive to the left.", _FLAT),
    ("roll_rate", "rad/s", "heading", "Rate of roll_turns over the last control step, in rad/s.", (TorsoFreedom.FREE,)),
    ("pitch_rate", "rad/s", "heading", "Rate of pitch_turns over the last control step, in rad/s; nose up +.", _SOLID),
    ("yaw_rate", "rad/s", "world", "Rate of yaw_turns over the last control step, in rad/s; left +.", _FLAT),
    ("clearance", "m", "world", "Height of the robot's lowest point over where it is at rest on the floor.", _SOLID),
    ("airborne", "1", "-", "1 while nothing of the robot touches the floor, else 0.", _SOLID),
    (
        "flight_rise",
        "m",
        "world",
        "z of the torso's frame above where it was when the robot last touched the floor, or at the start; 0 on the "
        "floor.",
        _SOLID,
    ),
    (
        "jump_height",
        "m",
        "world",
        "How high it has jumped: the lower of clearance and twice flight_rise, so that drawn-up legs are no jump.",
        _SOLID,
    ),
    ("feet_down", "1", "-", "Share of the feet that touch the floor, in [0, 1].", _SOLID),
    ("torso_contact", "1", "-", "1 while the trunk touches the floor, else 0.", _SOLID),
    ("highest_foot", "m", "world", "Height of the highest foot above where it begins to touch the floor.", _SOLID),
    (
        "foot_idle_time",
        "s",
        "-",
        "Longest time, over the feet, since one was put down after it had been raised by 2 cm; since the start for one "
        "that never was.",
        _SOLID,
    ),
    (
        "time_since_step",
        "s",
        "-",
        "Time since any foot was put down after it had been raised by 2 cm; since the start where none was.",
        _SOLID,
    ),
    ("top_height", "m", "world", "Height of the highest geom's centre.", _SOLID),
)
_CLOSING = (
    (
        "joint_speed",
        "rad/s",
        "joint",
        "Mean absolute velocity of the joints inside the body; m/s if none of them turns.",
    ),
    ("control_effort", "1", "-", "Mean square of the action scaled to [-1, 1], in [0, 1]."),
    ("action_rate", "1", "-", "Mean square of the scaled action's change; 0 at an episode's first step."),
)
_TARGET = (("target_distance", "m", "world", "Horizontal distance from {effector} to {target}."),)
_TARGET_IN_SPACE = (
    (
        "target_distance",
        "m",
        "world",
        "Distance from {effector} to the ball inside {target} about its centre, never negative.",
    ),
)
_POLE = (
    ("cart_position", "m", "world", "Place of the cart on its rail."),
    ("velocity_x", "m/s", "world", "Change of cart_position over the last control step."),
    ("pole_angle", "rad", "world", "Angle of the pole from upright, never negative; the sum over several poles."),
    ("pole_height", "m", "world", "Height of the last pole's tip."),
)


def features_of(base: TorsoFreedom, morphology: Morphology, floor: bool) -> tuple[Feature, ...]:
    """Features of a robot, in the order of their computation.

    Args:
        base: How its torso can move.
        morphology: Its feet, target and poles.
        floor: Whether there is a floor it can touch.
    """
    floor = floor and base in _SOLID
    rows = [row[:4] for row in _DEFINITIONS if base in row[4] and (floor or row[0] not in _ON_THE_FLOOR)]
    if morphology.pole:
        rows += _POLE
    if morphology.target:
        names = {"effector": morphology.effector, "target": morphology.target}
        definitions = _TARGET_IN_SPACE if morphology.height_counts else _TARGET
        rows += [(name, unit, frame, text.format(**names)) for name, unit, frame, text in definitions]
    if floor:
        rows += [(f"contact_{foot}", "1", "-", f"1 while {foot} touches the floor.") for foot in morphology.feet]
    return tuple(
        Feature(name=name, unit=unit, frame=frame, description=text) for name, unit, frame, text in (*rows, *_CLOSING)
    )


_COMMANDED = (
    Feature(
        name="command_velocity_x",
        unit="m/s",
        frame="heading",
        description="Commanded forward_velocity, in effect during the last control step.",
    ),
    Feature(
        name="command_velocity_y",
        unit="m/s",
        frame="heading",
        description="Commanded lateral_velocity, in effect during the last control step.",
    ),
    Feature(
        name="command_yaw_rate",
        unit="rad/s",
        frame="world",
        description="Commanded yaw_rate, in effect during the last control step.",
    ),
    Feature(
        name="command_heading",
        unit="rad",
        frame="world",
        description="How far it had yet to turn when the last control step began, positive to the left, in [-pi, pi].",
    ),
    Feature(
        name="command_height",
        unit="m",
        frame="world",
        description="Commanded height, in effect during the last control step.",
    ),
)
_ERRORS = (
    Feature(
        name="velocity_error",
        unit="m/s",
        frame="heading",
        description="Size of the difference of horizontal velocity and command, in the heading's frame.",
    ),
    Feature(
        name="yaw_rate_error",
        unit="rad/s",
        frame="world",
        description="Size of the difference of yaw_rate and command.",
    ),
    Feature(
        name="heading_error",
        unit="rad",
        frame="world",
        description="How far it has yet to turn after the last control step, to either side.",
    ),
    Feature(
        name="height_error",
        unit="m",
        frame="world",
        description="Size of the difference of height and command.",
    ),
)


def commanded(spec: EnvSpec, commands: Commands | None) -> EnvSpec:
    """An environment whose robot is told `commands`, with their features at the end; without any for None.

    Raises:
        InvalidConfig: the robot cannot follow them.
    """
    if spec.commands is None and commands is None:
        return spec
    plain = tuple(feature for feature in spec.features if feature.name not in COMMAND_FEATURES)
    spec = spec.model_copy(update={"features": plain, "commands": commands})
    if commands is None:
        return spec
    commands.require(spec)
    names = commands.followed(spec)
    told = [feature for feature in _COMMANDED if feature.name in names]
    apart = {"velocity_error", *(f"{name.removeprefix('command_')}_error" for name in names)}
    errors = [feature for feature in _ERRORS if feature.name in apart]
    return spec.model_copy(update={"features": (*plain, *told, *errors)})


def with_any_command(spec: EnvSpec) -> EnvSpec:
    """An environment with the features of every command, for what is checked before the commands are chosen."""
    plain = tuple(feature for feature in spec.features if feature.name not in COMMAND_FEATURES)
    return spec.model_copy(update={"features": (*plain, *_COMMANDED, *_ERRORS)})


_ON_THE_FLOOR = frozenset(
    {
        "clearance",
        "airborne",
        "flight_rise",
        "jump_height",
        "feet_down",
        "torso_contact",
        "highest_foot",
        "foot_idle_time",
        "time_since_step",
    }
)
