"""Walking to the left (+y) at 0.5 m/s or more."""

import numpy as np


def judge(features):
    seconds = max(float(features["time"][-1]), 1e-6)
    speed = float(features["displacement_y"][-1]) / seconds
    straight = abs(float(features["displacement_x"][-1])) / seconds
    going = np.clip(speed / 0.5, 0.0, 1.0)
    line = np.clip(1.0 - (straight - 0.4) / 0.4, 0.0, 1.0)
    score = float(going * line)
    return {"score": score, "evidence": f"{speed:.2f} m/s to the left (need 0.5), {straight:.2f} m/s across it"}
