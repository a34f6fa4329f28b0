import mujoco
import numpy as np
import pytest

from p2p.worker.engine.library import BatchUnavailable, NativeBatch, unavailable

BALL = "<mujoco><worldbody><body pos='0 0 0.05'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"


def test_batches_can_be_used_here():
    assert unavailable() is None


def test_an_engine_error_is_raised_as_mujocos_own_functions_raise_it():
    model = mujoco.MjModel.from_xml_string(BALL)
    model.opt.integrator = 77
    batch = NativeBatch(model, 2)
    with pytest.raises(mujoco.FatalError, match="integrator"):
        batch.step(1)
    with pytest.raises(mujoco.FatalError, match="integrator"):
        mujoco.mj_step(model, mujoco.MjData(model))


def test_a_field_that_a_batch_does_not_hold_as_floats_is_refused():
    batch = NativeBatch(mujoco.MjModel.from_xml_string("<mujoco/>"), 1)
    with pytest.raises(BatchUnavailable, match="do not give"):
        batch.output("eq_active")


def test_only_the_named_simulations_are_reset():
    model = mujoco.MjModel.from_xml_string(BALL)
    batch = NativeBatch(model, 3)
    qpos = batch.component(mujoco.mjtState.mjSTATE_QPOS)
    qpos[:, 2] = 5.0
    batch.reset(np.array([0, 2], dtype=np.int32))
    assert qpos[:, 2].tolist() == [0.05, 5.0, 0.05]
