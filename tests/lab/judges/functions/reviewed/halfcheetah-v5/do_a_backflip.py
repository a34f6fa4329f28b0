"""Backflip: take off, one full turn backward in the air, land on the feet and stay there.

Judged attempt by attempt: each time in the air is one attempt, and the best one counts.
"""

import numpy as np

TURNS, HIGH, UPRIGHT, HOLD_S = 0.9, 0.05, 0.7, 0.1


def flights(clearance):
    """Stretches of steps in which the lowest point is off the floor."""
    up = np.concatenate([[0], (clearance > HIGH).astype(int), [0]])
    starts, ends = np.flatnonzero(np.diff(up) == 1), np.flatnonzero(np.diff(up) == -1)
    return list(zip(starts, ends, strict=True))


def judge(features):
    time, turns, up = features["time"], features["pitch_turns"], features["up"]
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 0.05
    hold = max(1, round(HOLD_S / dt))
    best, words = 0.0, "it never left the floor"
    for start, end in flights(features["clearance"]):
        before = turns[max(0, start - 1)]
        turned = float(turns[min(end, len(turns) - 1)] - before)
        score = 0.6 * np.clip(turned / TURNS, 0.0, 1.0)
        landed = False
        if turned >= TURNS:
            after = (up[end:] > UPRIGHT) & (features["airborne"][end:] < 0.5)
            within = after[: round(1.0 / dt)]
            runs = np.convolve(within, np.ones(hold), "valid") if len(within) >= hold else np.zeros(1)
            landed = bool(np.max(runs) >= hold)
            score = 1.0 if landed else 0.6 + 0.3 * float(np.max(runs)) / hold
        if score > best:
            best = float(score)
            words = f"{turned:.2f} turns backward in the air (need {TURNS}), landed: {landed}"
    return {"score": best, "evidence": words}
