"""A jump: the lowest point 0.15 m off the floor, for longer than a jerk, the right way up."""

import numpy as np


def judge(features):
    time, clearance = features["time"], features["clearance"]
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 0.05
    off, best, evidence = 0, 0.0, "it never left the floor"
    peak = 0.0
    for value in np.append(clearance, 0.0):
        if value > 0.03:
            off, peak = off + 1, max(peak, float(value))
            continue
        score = min(1.0, peak / 0.15) * min(1.0, off * dt / 0.15)
        if score > best:
            best, evidence = score, f"{peak:.2f} m of 0.15 m, in the air for {off * dt:.2f} s"
        off, peak = 0, 0.0
    upright = float(np.mean(features["up"] > 0.5))
    best *= float(np.clip(upright / 0.9, 0.0, 1.0))
    return {"score": float(best), "evidence": f"{evidence}; upright in {upright:.0%}"}
