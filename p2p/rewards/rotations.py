"""Rotations of a body frame as unit quaternions (w, x, y, z), shape (B, 4), vectorised over B."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def multiply(a: Floats, b: Floats) -> Floats:
    """Quaternion product: the rotation `b` followed by `a`; shapes (B, 4) or (4,), broadcast."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(q: Floats) -> Floats:
    """The inverse rotation."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotation_vector(before: Floats, after: Floats) -> Floats:
    """Rotation from one orientation to the next, as axis times angle in the world frame.

    Args:
        before: Orientations, shape (B, 4).
        after: Orientations, shape (B, 4).

    Returns:
        World rotation vectors, shape (B, 3) [rad], the shorter way round (length at most pi).
    """
    turn = multiply(after, conjugate(before))
    w, v = turn[:, 0], turn[:, 1:]
    sine = np.sqrt(v[:, 0] ** 2 + v[:, 1] ** 2 + v[:, 2] ** 2)
    angle = 2.0 * np.arctan2(sine, np.abs(w)) * np.where(w < 0.0, -1.0, 1.0)
    scale = np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 1e-12)
    return v * scale[:, None]


def forward_axis(q: Floats) -> Floats:
    """The body's x axis in the world, shape (B, 3)."""
    w, x, y, z = q.T
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)


def left_axis(q: Floats) -> Floats:
    """The body's y axis in the world, shape (B, 3)."""
    w, x, y, z = q.T
    return np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], axis=1)


def heading(q: Floats) -> Floats:
    """Direction that the body faces, square to its left axis, shape (B,), positive to the left of x, in [-pi, pi].

    It does not turn round when the body flips over.
    """
    left = left_axis(q)
    return np.asarray(np.arctan2(-left[:, 0], left[:, 1]))


def within_half_turn(angles: Floats) -> Floats:
    """The same angles in [-pi, pi) [rad]."""
    return np.asarray((angles + np.pi) % (2.0 * np.pi) - np.pi)


def upness(q: Floats) -> Floats:
    """World z of the body's z axis, shape (B,), in [-1, 1]."""
    return 1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)
