import math

import numpy as np
import pytest

from p2p.analysis.training_dynamics import dynamics, dynamics_warnings


def rows_of(**series):
    n = len(next(iter(series.values())))
    return [{"global_step": 1024 * (i + 1), **{k: v[i] for k, v in series.items()}} for i in range(n)]


def returns(values):
    return dynamics(rows_of(episodic_return=list(values)))


def saturating(n):
    return 1.0 - np.exp(-8.0 * np.arange(n) / n)


def noise(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("n", [12, 60, 600])
@pytest.mark.parametrize(("scale", "offset"), [(1e-4, 0.0), (1.0, -50.0), (1e5, 3.0)])
class TestPlateau:
    def test_a_return_that_saturates_has_reached_a_plateau(self, n, scale, offset):
        assert returns(scale * saturating(n) + offset)["plateau"] == 1.0

    def test_a_return_that_rises_has_not(self, n, scale, offset):
        numbers = returns(scale * np.arange(n) / n + offset)
        assert numbers["plateau"] == 0.0
        assert numbers["return_slope"] == pytest.approx(1 / 3, abs=0.1)

    def test_a_return_that_falls_has_not(self, n, scale, offset):
        assert returns(-scale * np.arange(n) / n + offset)["plateau"] == 0.0


def test_a_rise_is_seen_through_noise():
    assert returns(np.arange(300) / 300 + 0.05 * noise(300))["plateau"] == 0.0


def test_noise_alone_is_a_plateau():
    found = [returns(noise(300, seed))["plateau"] for seed in range(20)]
    assert np.mean(found) >= 0.8


def test_a_constant_return_is_a_plateau():
    numbers = returns([5.0] * 30)
    assert numbers["plateau"] == 1.0
    assert numbers["return_gain"] == 0.0


def test_a_return_that_falls_after_its_best_is_noticed():
    numbers = returns(np.concatenate([np.linspace(0, 10, 50), np.linspace(10, 2, 50)]))
    assert numbers["return_drop"] > 0.5
    assert any("fell after its best" in warning for warning in dynamics_warnings(numbers))


def test_a_steady_training_gives_no_warning():
    n = 100
    numbers = dynamics(
        rows_of(
            episodic_return=list(np.linspace(0, 300, n)),
            value_loss=list(np.linspace(0.5, 0.2, n)),
            policy_loss=[-0.01] * n,
            entropy=list(np.linspace(5, 3, n)),
            policy_std=list(np.linspace(0.6, 0.3, n)),
            approx_kl=[0.02] * n,
            clip_fraction=[0.1] * n,
            explained_variance=list(np.linspace(0.1, 0.9, n)),
            reward_term_speed=list(np.linspace(0, 2, n)),
            curriculum_assistance=[1.0] * 50 + [0.02] * 50,
        )
    )
    assert dynamics_warnings(numbers) == ()
    assert numbers["approx_kl"] == pytest.approx(0.02)
    assert numbers["explained_variance"] > 0.8
    assert numbers["entropy_drop"] == pytest.approx(1.6, abs=0.05)
    assert numbers["reward_term_speed_first"] < 0.3 < 1.6 < numbers["reward_term_speed_last"]


@pytest.mark.parametrize(
    ("series", "words"),
    [
        ({"approx_kl": [0.01] * 18 + [0.5] * 2}, "policy jumped in 10%"),
        ({"policy_std": list(np.geomspace(0.6, 0.01, 20))}, "Exploration collapsed"),
        ({"explained_variance": [-0.1] * 20}, "value function explains"),
        ({"value_loss": list(np.geomspace(0.1, 1e4, 20))}, "value loss grew"),
        ({"curriculum_assistance": [1.0] * 10 + [0.4] * 10}, "40% of the robot's weight were still held"),
        ({"policy_loss": [0.1] * 19 + [math.nan]}, "1 training values were not finite"),
    ],
)
def test_what_goes_wrong_is_said_in_words(series, words):
    [warning] = dynamics_warnings(dynamics(rows_of(**series)))
    assert words in warning


def test_a_differential_entropy_below_zero_is_no_collapse():
    numbers = dynamics(rows_of(entropy=list(np.linspace(0.1, -1.0, 20)), policy_std=list(np.linspace(0.3, 0.2, 20))))
    assert dynamics_warnings(numbers) == ()


def test_no_rows_give_no_numbers_and_no_warnings():
    assert dynamics([]) == {"updates": 0.0, "not_finite": 0.0}
    assert dynamics_warnings(dynamics([])) == ()


def test_one_row_gives_its_values_and_no_trend():
    numbers = dynamics(rows_of(episodic_return=[7.0], approx_kl=[0.01], value_loss=[0.3], policy_std=[0.6]))
    assert numbers["return_first"] == numbers["return_last"] == numbers["return_max"] == 7.0
    assert numbers["policy_std_ratio"] == 1.0
    assert "plateau" not in numbers
    assert "value_loss_growth" not in numbers


def test_rows_of_evaluations_are_left_out():
    training = rows_of(episodic_return=list(np.arange(30.0)))
    evaluation = {"global_step": 5, "type": "eval", "episodic_return": 1e9, "mean_return": 3.0}
    assert dynamics([*training[:10], evaluation, *training[10:], evaluation]) == dynamics(training)


@pytest.mark.parametrize("gap", [None, math.nan, math.inf, "n/a", True])
def test_values_that_are_missing_or_not_finite_are_left_out(gap):
    training = rows_of(episodic_return=list(np.arange(30.0)))
    assert dynamics([{"episodic_return": gap}, *training])["return_last"] == dynamics(training)["return_last"]


def test_every_number_is_finite_whatever_comes():
    wild = rows_of(episodic_return=[0.0, math.inf, math.nan] * 5, value_loss=[0.0] * 15, policy_std=[0.0] * 15)
    assert all(math.isfinite(value) for value in dynamics(wild).values())
