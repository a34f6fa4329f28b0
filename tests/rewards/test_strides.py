"""Strides, against gaits drawn with known phases, and against event lists of random contacts, foot by foot."""

import numpy as np
import pytest

from p2p.rewards.features import RAISED
from p2p.rewards.strides import LATE, SWING_S, Strides

DT = 0.02
PAIRS = ((0, 1), (0, 2), (1, 2))


def told(contact, clearance, slip, pairs=PAIRS):
    """All measures of one robot after each of T steps, by the tracker; arrays of shape (T, feet)."""
    strides = Strides(contact.shape[1], pairs, DT)
    kept = strides.at_start(1)
    rows = []
    for row in zip(contact, clearance, slip, strict=True):
        kept = strides.after(kept, *(values[None] for values in row))
        rows.append(kept | {"frequency": strides.frequency(kept)})
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def drawn(phases, duty, hz=2.5, seconds=4.0, sliding=0.3):
    """Contacts, clearances and slips of feet that come down at `phases` of each stride."""
    t = DT * np.arange(round(seconds / DT))
    phase = np.round(t[:, None] * hz - np.array(phases), 9) % 1.0
    down = phase < np.broadcast_to(duty, len(phases)) - 1e-9
    return down.astype(float), np.where(down, 0.0, 0.05), np.where(down, sliding, 0.0)


@pytest.mark.parametrize(
    ("phases", "offsets"),
    [
        ((0.0, 0.5, 0.0), (0.5, 0.0, 0.5)),
        ((0.0, 0.25, 0.55), (0.25, 0.45, 0.3)),
        ((0.8, 0.0, 0.8), (0.2, 0.0, 0.2)),
    ],
)
def test_a_drawn_gait_has_the_phases_duty_frequency_and_slip_it_was_drawn_with(phases, offsets):
    found = told(*drawn(phases, duty=(0.6, 0.4, 0.75)))
    settled = {name: values[100:] for name, values in found.items()}
    np.testing.assert_allclose(settled["offset"], np.tile(offsets, (100, 1)), atol=1e-12)
    np.testing.assert_allclose(settled["duty"], np.tile((0.6, 0.4, 0.75), (100, 1)), atol=1e-12)
    np.testing.assert_allclose(settled["frequency"], 2.5, atol=1e-9)
    np.testing.assert_allclose(settled["slip"], 0.3, atol=1e-12)


def test_who_stands_drags_a_foot_or_trembles_takes_no_strides():
    for contact, clearance in (
        (np.ones((200, 3)), np.zeros((200, 3))),
        (drawn((0.0, 0.5, 0.0), 0.6)[0], np.full((200, 3), RAISED / 2)),
    ):
        found = told(contact, clearance, np.zeros_like(contact))
        assert (found["offset"] == -1.0).all()
        assert (found["frequency"] == 0.0).all()
    assert (told(np.ones((200, 3)), np.zeros((200, 3)), np.zeros((200, 3)))["duty"] == 1.0).all()


def test_a_foot_that_stops_stepping_loses_its_phase_and_stands():
    contact, clearance, slip = drawn((0.0, 0.5, 0.0), 0.6, seconds=8.0)
    contact[200:, 2], clearance[200:, 2] = 1.0, 0.0
    found = told(contact, clearance, slip)
    assert found["offset"][199, 1] == 0.0
    assert (found["offset"][260:, 1:] == -1.0).all(), "the foot that stands is in phase with no other"
    assert (found["offset"][260:, 0] == 0.5).all()
    assert found["duty"][-1, 2] > 0.95
    assert found["frequency"][-1, 2] < 0.3


def touch_downs(contact, clearance):
    """Steps at which a foot comes down after it was raised, and off the floor for long enough."""
    found = []
    for t in np.flatnonzero(contact):
        up = t
        while up > 0 and not contact[up - 1]:
            up -= 1
        if (t - up) * DT >= SWING_S - 1e-9 and clearance[up:t].max(initial=0.0) >= RAISED:
            found.append(t)
    return found


def by_events(contact, clearance, slip):
    """Duty, slip, frequency of each foot and offsets of pairs after each step, from lists of touch-downs."""
    steps, feet = contact.shape
    downs = [touch_downs(contact[:, foot], clearance[:, foot]) for foot in range(feet)]
    duty, slid, hz = (np.zeros((steps, feet)) for _ in range(3))
    offset = np.full((steps, len(PAIRS)), -1.0)

    def since_and_period(foot, t):
        past = [d for d in downs[foot] if d <= t]
        return (t - past[-1] if past else t, past[-1] - past[-2] if len(past) > 1 else 0)

    for t in range(steps):
        for foot in range(feet):
            past = [d for d in downs[foot] if d <= t]
            since, period = since_and_period(foot, t)
            if period and since + 1 <= period:
                part = slice(past[-2], past[-1])
            else:
                part = slice(past[-1] if past else 0, t + 1)
            down = contact[part, foot] > 0
            duty[t, foot] = down.mean()
            slid[t, foot] = slip[part, foot][down].mean() if down.any() else 0.0
            hz[t, foot] = 1.0 / (DT * max(period, since + 1)) if period else 0.0
        for column, (one, other) in enumerate(PAIRS):
            value = offset[t - 1, column] if t else -1.0
            for mine, theirs in ((one, other), (other, one)):
                since, period = since_and_period(theirs, t)
                if t in downs[mine]:
                    share = since / max(period, 1)
                    value = min(share % 1.0, 1.0 - share % 1.0)
            stepping = all(p and s <= LATE * p for s, p in (since_and_period(foot, t) for foot in (one, other)))
            offset[t, column] = value if stepping else -1.0
    return {"duty": duty, "slip": slid, "frequency": hz, "offset": offset}


@pytest.mark.parametrize("seed", range(6))
def test_strides_are_those_of_the_list_of_touch_downs(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 12, (3, 60))
    contact = np.stack([np.repeat(np.arange(60) % 2, row)[:240].astype(float) for row in lengths], axis=1)
    clearance = np.where(contact > 0, 0.0, rng.uniform(0.0, 0.06, contact.shape))
    slip = np.where(contact > 0, rng.uniform(0.0, 1.0, contact.shape), 0.0)
    found, expected = told(contact, clearance, slip), by_events(contact, clearance, slip)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-12, err_msg=name)
    assert (expected["offset"] >= 0).mean() > 0.3, "hardly any strides were drawn"
