import itertools
import random
from statistics import fmean

import pytest

from p2p.analysis.paired import bootstrap_interval, difference, estimate, holm, sign_flip


def by_all_signs(values):
    """By listing every assignment of signs, as an independent computation."""
    seen = abs(sum(values)) - 1e-9
    sums = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    return fmean(total >= seen for total in sums)


@pytest.mark.parametrize(
    "values",
    [[1.0], [1.0, 1.0, 1.0], [1 / 3, -2 / 3, 1.0, 0.0, 1 / 3], [0.31, -0.17, 0.05, 0.44, 0.02, -0.2], [0.0, 0.0]],
)
def test_the_permutation_test_lists_all_signs(values):
    assert sign_flip(values) == pytest.approx(by_all_signs(values))


def test_pass_rates_of_sixty_cases_are_tested_exactly():
    one_of_sixty = [1 / 3] * 6 + [0.0] * 54
    assert sign_flip(one_of_sixty) == 2 / 2**6


def test_many_different_values_are_tested_by_draws_that_repeat():
    rng = random.Random(3)
    values = [rng.gauss(0.2, 0.5) for _ in range(40)]
    exact_enough = sign_flip(values, seed=1)
    assert exact_enough == sign_flip(values, seed=1)
    assert exact_enough == pytest.approx(sign_flip(values, seed=2), abs=0.02)


def test_seeds_of_a_case_count_as_one_case():
    few = difference({"a": [0.0], "b": [0.0]}, {"a": [1.0], "b": [1.0]}, successes=True)
    many = difference({"a": [0.0] * 50, "b": [0.0] * 50}, {"a": [1.0] * 50, "b": [1.0] * 50}, successes=True)
    assert few.p == many.p == 0.5
    assert few.n_cases == many.n_cases == 2


def test_cases_that_one_run_lacks_are_left_out_of_both():
    first = {"a": [0.0], "b": [1.0], "c": []}
    second = {"b": [0.0], "c": [1.0], "d": [1.0]}
    found = difference(first, second, successes=True)
    assert (found.n_cases, found.mean, found.low, found.p) == (1, -1.0, None, None)
    assert difference({"a": [1.0]}, {"b": [1.0]}, successes=True).mean is None


def test_every_case_counts_once_however_many_sessions_it_had():
    assert estimate({"a": [0.0], "b": [1.0] * 9}, bounded=True).mean == 0.5


def test_no_difference_seen_is_no_proof_that_there_is_none():
    same = {f"case-{n}": [1.0, 1.0, 1.0] for n in range(10)}
    found = difference(same, same, successes=True)
    assert found.mean == 0.0
    assert found.p == 1.0
    assert found.n_changed == 0
    assert found.low < -0.02
    assert found.high > 0.02


def test_the_mean_lies_in_its_interval_even_where_every_case_turned():
    never = {f"case-{n}": [0.0] for n in range(6)}
    always = {f"case-{n}": [1.0] for n in range(6)}
    found = difference(never, always, successes=True)
    assert found.mean == found.high == 1.0
    assert 0 < found.low < 1


def test_equal_shares_of_every_case_have_an_interval_too():
    found = estimate({f"case-{n}": [1.0, 0.0] for n in range(8)}, bounded=True)
    assert found.low < 0.3
    assert found.high > 0.7


def test_an_interval_narrows_with_cases_and_repeats():
    rng = random.Random(1)
    values = [rng.random() for _ in range(80)]
    few, many = bootstrap_interval(values[:10]), bootstrap_interval(values)
    assert many[1] - many[0] < few[1] - few[0]
    assert bootstrap_interval(values) == many


def test_holm_corrects_the_smallest_most():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
