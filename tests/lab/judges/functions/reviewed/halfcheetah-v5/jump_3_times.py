"""Three jumps of 0.2 m, each from the floor and back to it, the right way up."""

import numpy as np

HEIGHT, FLOOR, LEAST_S = 0.2, 0.02, 0.1


def judge(features):
    time, clearance = features["time"], features["clearance"]
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 0.05
    jumps, peak, steps = 0, 0.0, 0
    for value in clearance:
        if value > FLOOR:
            peak, steps = max(peak, float(value)), steps + 1
            continue
        if peak >= HEIGHT and steps * dt >= LEAST_S:
            jumps += 1
        peak, steps = 0.0, 0
    upright = float(np.mean(features["up"] >= 0.7))
    score = min(1.0, jumps / 3) * float(np.clip(upright / 0.9, 0.0, 1.0))
    return {"score": score, "evidence": f"{jumps} of 3 jumps of {HEIGHT} m and back, upright in {upright:.0%}"}
