"""Rearing: nose up for three seconds."""

import numpy as np


def judge(features):
    time = features["time"]
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 0.05
    reared = (features["pitch"] > 1.0) & (features["pitch"] < 2.2)
    held = float(np.sum(reared) * dt)
    return {"score": float(np.clip(held / 3.0, 0.0, 1.0)), "evidence": f"reared for {held:.2f} s of 3 s"}
