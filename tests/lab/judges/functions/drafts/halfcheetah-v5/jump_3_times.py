"""Three jumps of 0.2 m."""

import numpy as np


def judge(features):
    high = features["clearance"] >= 0.2
    jumps = int(np.sum(high[1:] & ~high[:-1]) + high[0])
    return {"score": min(1.0, jumps / 3), "evidence": f"{jumps} jumps of 0.2 m, of 3"}
