"""The joints that move a robot as a whole: put it at a pitch and a height, whichever joints it has."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec, Joint
from p2p.contracts.errors import InvalidConfig
from p2p.rewards.rotations import conjugate, left_axis, multiply

Floats = NDArray[np.float64]


class Root(Protocol):
    """Joints that move the robot as a whole."""

    def place(self, qpos: Floats, qvel: Floats, pitch: float, raised: float, pitch_rate: float) -> None:
        """Change a state in place: pitch and pitch rate nose up positive [rad, rad/s], height added [m]."""
        ...

    def lift(self, qpos: Floats, height: float) -> None:
        """Raise a state in place by `height` [m]."""
        ...


class _PlanarRoot:
    """A slide along z and a hinge about y."""

    def __init__(self, slide: Joint, hinge: Joint) -> None:
        self._z = slide.qpos_index
        self._angle = hinge.qpos_index
        self._rate = hinge.qvel_index
        self._up = -np.sign(hinge.axis[1])  # a positive turn about +y puts the nose down

    def place(self, qpos: Floats, qvel: Floats, pitch: float, raised: float, pitch_rate: float) -> None:
        qpos[self._z] += raised
        qpos[self._angle] += self._up * pitch
        qvel[self._rate] = self._up * pitch_rate

    def lift(self, qpos: Floats, height: float) -> None:
        qpos[self._z] += height


class _FreeRoot:
    """A free joint: position and quaternion in the world, angular velocity in the body."""

    def __init__(self, joint: Joint, upright: tuple[float, ...]) -> None:
        self._z = joint.qpos_index + 2
        self._quaternion = slice(joint.qpos_index + 3, joint.qpos_index + 7)
        self._spin = slice(joint.qvel_index + 3, joint.qvel_index + 6)
        self._upright = conjugate(np.array(upright))

    def place(self, qpos: Floats, qvel: Floats, pitch: float, raised: float, pitch_rate: float) -> None:
        before = qpos[self._quaternion].copy()
        left = left_axis(multiply(before, self._upright)[None])[0]
        after = multiply(np.array([np.cos(pitch / 2), *(-np.sin(pitch / 2) * left)]), before)
        qpos[self._z] += raised
        qpos[self._quaternion] = after
        spin = multiply(multiply(conjugate(after), np.array([0.0, *(-pitch_rate * left)])), after)
        qvel[self._spin] = spin[1:]

    def lift(self, qpos: Floats, height: float) -> None:
        qpos[self._z] += height


def root_of(spec: EnvSpec) -> Root:
    """How the robot as a whole is moved.

    Raises:
        InvalidConfig: it has no pitch and height to move.
    """
    own = [joint for joint in spec.joints if joint.body == spec.morphology.torso]
    free = [joint for joint in own if joint.kind == "free"]
    slides = [joint for joint in own if joint.kind == "slide" and abs(joint.axis[2]) > 0.5]
    hinges = [joint for joint in own if joint.kind == "hinge" and abs(joint.axis[1]) > 0.5]
    if free:
        return _FreeRoot(free[0], spec.morphology.upright)
    if "pitch" in spec.feature_names and slides and hinges:
        return _PlanarRoot(slides[0], hinges[0])
    raise InvalidConfig(f"start_states moves a robot's pitch and height, which {spec.env_id} does not have. Remove it.")
