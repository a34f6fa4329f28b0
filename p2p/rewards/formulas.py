"""The formula of every feature, in groups that share their intermediate results."""

from collections.abc import Callable, Mapping

import numpy as np

from p2p.rewards.rotations import forward_axis, heading, left_axis, upness, within_half_turn
from p2p.rewards.states import Floats, Sample

Features = dict[str, Floats]
Formula = Callable[[Sample], Features]


def place(sample: Sample) -> Features:
    """Position of the torso, and distance from its start."""
    x, y, z = sample.after.position.T
    start_x, start_y, _ = sample.sums.start.T
    return {
        "position_x": x,
        "position_y": y,
        "height": z - sample.after.ground,
        "cart_position": x,
        "displacement_x": x - start_x,
        "displacement_y": y - start_y,
        "displacement": np.sqrt((x - start_x) ** 2 + (y - start_y) ** 2),
    }


def motion(sample: Sample) -> Features:
    """Motion of the torso over the last step, in the world and along its heading."""
    velocity = (sample.after.position - sample.before.position) / sample.spec.dt
    x, y, z = velocity.T
    yaw = heading(sample.after.quaternion)
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return {
        "velocity_x": x,
        "velocity_y": y,
        "velocity_z": z,
        "speed": np.sqrt(x**2 + y**2),
        "forward_velocity": cosine * x + sine * y,
        "lateral_velocity": cosine * y - sine * x,
        "yaw": yaw,
    }


def attitude(sample: Sample) -> Features:
    """Attitude of the torso: Euler angles in the order yaw, roll, pitch, singular only on its side."""
    quaternion = sample.after.quaternion
    up = upness(quaternion)
    return {
        "roll": np.arcsin(np.clip(left_axis(quaternion)[:, 2], -1.0, 1.0)),
        "pitch": np.arctan2(forward_axis(quaternion)[:, 2], up),
        "up": up,
    }


def rotation(sample: Sample) -> Features:
    """Accumulated rotation since the episode's start, never wrapped."""
    features: Features = {f"rotation_{axis}": sample.sums.rotation[:, i] for i, axis in enumerate("xyz")}
    for i, name in enumerate(("roll", "pitch", "yaw")):
        features[f"{name}_turns"] = sample.sums.turned[:, i] / (2.0 * np.pi)
        features[f"{name}_rate"] = sample.rates[:, i]
    return features


def floor(sample: Sample) -> Features:
    """Floor contacts, and clearance of the other parts."""
    after = sample.after
    feet = sample.spec.morphology.feet
    clearance = after.low - sample.spec.rest_clearance
    rise = after.position[:, 2] - sample.sums.took_off
    return {
        "clearance": clearance,
        "airborne": 1.0 - after.touching,
        "flight_rise": rise,
        "jump_height": jump_height(clearance, rise),
        "feet_down": after.feet.sum(axis=1) / max(len(feet), 1),
        "torso_contact": after.trunk,
        "top_height": after.top,
        "highest_foot": after.foot_height.max(axis=1, initial=0.0),
        "foot_idle_time": sample.sums.since_step.max(axis=1, initial=0.0) * sample.spec.dt,
        "time_since_step": (sample.sums.since_step if feet else sample.sums.steps[:, None]).min(axis=1)
        * sample.spec.dt,
        **{f"contact_{foot}": after.feet[:, i] for i, foot in enumerate(feet)},
    }


def jump_height(clearance: Floats, rise: Floats) -> Floats:
    """Height of a jump in which legs are not just drawn up [m].

    Args:
        clearance: Of the robot's lowest point, shape (B,) [m].
        rise: Of the torso since the robot left the floor, shape (B,) [m].
    """
    return np.minimum(clearance, 2.0 * rise)


def effort(sample: Sample) -> Features:
    """Time, and effort of the motors."""
    return {
        "time": sample.sums.steps * sample.spec.dt,
        "joint_speed": sample.after.joint_speed,
        "control_effort": np.mean(sample.action**2, axis=1),
        "action_rate": np.mean(sample.change**2, axis=1),
    }


def tracking(features: Features, commands: Floats, followed: Mapping[str, str], faced: Floats) -> Features:
    """Commands, and how far the motion of the last step was from them.

    Args:
        features: Of the same samples, those that follow commands among them.
        commands: In effect during each step, shape (B, number of commands) [m/s, rad/s, rad, m].
        followed: Name of each command, in the order of the columns -> the feature that is to follow it.
        faced: Headings before each step, shape (B,) [rad].
    """
    told: Features = {name: commands[:, i] for i, name in enumerate(followed)}
    apart = {name: told[name] - features[feature] for name, feature in followed.items()}
    speeds = [apart[name] for name in followed if name.startswith("command_velocity_")]
    errors: Features = {"velocity_error": np.sqrt(sum(speed**2 for speed in speeds))}
    for name in ("yaw_rate", "height"):
        if f"command_{name}" in apart:
            errors[f"{name}_error"] = np.abs(apart[f"command_{name}"])
    if "command_heading" in told:
        errors["heading_error"] = np.abs(within_half_turn(told["command_heading"] - features["yaw"] + faced))
    return told | errors


def task(sample: Sample) -> Features:
    """Distance to a target, and the state of poles."""
    return {name: getattr(sample.after, name) for name in ("target_distance", "pole_angle", "pole_height")}


GROUPS: Mapping[frozenset[str], Formula] = {
    frozenset({"position_x", "cart_position"}): place,
    frozenset({"velocity_x"}): motion,
    frozenset({"pitch"}): attitude,
    frozenset({"rotation_y", "rotation_z"}): rotation,
    frozenset({"top_height"}): floor,
    frozenset({"time"}): effort,
    frozenset({"target_distance", "pole_angle"}): task,
}
"""A group is computed for an environment that has one of these features."""


def formulas_for(names: tuple[str, ...]) -> tuple[Formula, ...]:
    """Groups needed for the features `names`."""
    return tuple(formula for members, formula in GROUPS.items() if not members.isdisjoint(names))
