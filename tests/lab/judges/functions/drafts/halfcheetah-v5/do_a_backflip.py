"""Backflip: one full turn backward, upright at the end."""

import numpy as np


def judge(features):
    turns = features["pitch_turns"]
    most = float(np.max(turns))
    upright = float(features["up"][-1])
    rotation = np.clip(most / 0.95, 0.0, 1.0)
    landing = np.clip(upright / 0.7, 0.0, 1.0)
    score = 0.7 * rotation + 0.3 * rotation * landing
    return {"score": float(score), "evidence": f"{most:.2f} turns backward (need 0.95), up at the end {upright:.2f}"}
