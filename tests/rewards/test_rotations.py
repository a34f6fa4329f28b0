from itertools import pairwise

import mujoco
import numpy as np
import pytest

from p2p.rewards.rotations import conjugate, forward_axis, left_axis, multiply, rotation_vector, upness


@pytest.fixture
def quaternions():
    rows = np.random.default_rng(0).standard_normal((50, 4))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_products_and_inverses_are_mujocos(quaternions):
    for a, b in pairwise(quaternions):
        expected = np.zeros(4)
        mujoco.mju_mulQuat(expected, a, b)
        assert multiply(a[None], b[None])[0] == pytest.approx(expected)
    assert multiply(quaternions, conjugate(quaternions)) == pytest.approx(np.tile([1.0, 0, 0, 0], (50, 1)))


def test_axes_are_the_columns_of_the_rotation_matrix(quaternions):
    forward, left, up = forward_axis(quaternions), left_axis(quaternions), upness(quaternions)
    for row, quaternion in enumerate(quaternions):
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, quaternion)
        columns = matrix.reshape(3, 3).T
        assert forward[row] == pytest.approx(columns[0])
        assert left[row] == pytest.approx(columns[1])
        assert up[row] == pytest.approx(columns[2, 2])


@pytest.mark.parametrize("angle", [0.0, 1e-13, 1e-6, 0.1, 1.0, 3.0, np.pi - 1e-9])
def test_a_rotation_vector_is_the_axis_times_the_angle_in_the_world(angle, quaternions):
    axis = np.array([0.6, -0.0, 0.8])
    turn = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    for sign in (1.0, -1.0):
        found = rotation_vector(quaternions, sign * multiply(turn, quaternions))
        assert found == pytest.approx(np.tile(angle * axis, (50, 1)), abs=1e-7)
