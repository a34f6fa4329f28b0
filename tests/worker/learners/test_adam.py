import numpy as np
import pytest
import torch

from p2p.worker.learners.ppo import Adam, clip_gradient_norm


def test_steps_are_those_of_torch():
    random = np.random.default_rng(0)
    start = random.normal(size=50).astype(np.float32)
    ours, theirs = start.copy(), torch.nn.Parameter(torch.tensor(start))
    adam, optimizer = Adam(ours), torch.optim.Adam([theirs], eps=1e-5)
    for step in range(350):
        gradient = random.normal(0, 0.1, 50).astype(np.float32)
        gradient[:10] = 0.0 if step > 5 else gradient[:10]
        rate = 1e-3 * (1 - step / 350)
        optimizer.param_groups[0]["lr"] = rate
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
        adam.step(gradient, rate)
    assert ours == pytest.approx(theirs.detach().numpy(), rel=0, abs=1e-6)


def test_moments_of_a_parameter_without_gradient_do_not_become_subnormal():
    adam = Adam(np.zeros(2, dtype=np.float32))
    adam.step(np.array([1.0, 1e-16], dtype=np.float32), 1e-3)
    smallest = np.finfo(np.float32).smallest_normal
    for _ in range(1000):
        adam.step(np.zeros(2, dtype=np.float32), 1e-3)
        for moment in (adam._gradients, adam._squares):
            assert ((moment == 0) | (np.abs(moment) >= smallest)).all()


@pytest.mark.parametrize("length", [0.1, 0.4999999, 0.5, 0.6, 100.0])
def test_the_gradient_is_clipped_as_torch_does(length):
    gradient = np.random.default_rng(0).normal(size=100)
    gradient = (gradient * length / np.linalg.norm(gradient)).astype(np.float32)
    parameter = torch.nn.Parameter(torch.zeros(100))
    parameter.grad = torch.tensor(gradient)
    norm = torch.nn.utils.clip_grad_norm_([parameter], 0.5)
    assert clip_gradient_norm(gradient, 0.5) == pytest.approx(float(norm), rel=1e-6)
    assert gradient == pytest.approx(parameter.grad.numpy(), rel=1e-6)
