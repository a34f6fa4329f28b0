"""The audit separates rewards that are bad by construction from those of known good forms."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from audited_rewards import KEPT, TUNED, Audited
from measure_audit import audited


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, id=f"{one.env_id}-{one.name}-{one.good}", marks=[pytest.mark.nightly] * (number % 2))
        for number, one in enumerate([*TUNED, *KEPT])
    ],
)
def test_bad_rewards_are_warned_of_and_good_ones_are_not(one: Audited) -> None:
    _, messages = audited(one)
    assert bool(messages) is not one.good, messages or one.why


def test_what_a_clipped_speed_cannot_tell_apart_is_named() -> None:
    (message,) = audited(TUNED[0])[1]
    assert message.startswith("It pays the same for 'standing still' as for 'moving backward at 2 m/s'")
    assert "'falling on its nose'" in message
