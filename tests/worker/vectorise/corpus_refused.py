"""Rewards that have to be called row by row: source, part of the reason, and the line it names."""

REFUSED = {
    "previous_action": (
        """
import numpy as np

class Smooth(RewardFunction):
    def __init__(self):
        self.previous = None

    def compute(self, obs, action, next_obs, info):
        jerk = 0.0 if self.previous is None else -float(np.sum((action - self.previous) ** 2))
        self.previous = action.copy()
        return jerk, {"jerk": jerk}

    latex, terms = "r", {"jerk": ""}
""",
        "keeps state in self.previous",
        10,
    ),
    "history_in_a_deque": (
        """
from collections import deque

class Averaged(RewardFunction):
    def __init__(self):
        self.history = deque(maxlen=5)

    def compute(self, obs, action, next_obs, info):
        self.history.append(float(info["velocity_x"]))
        mean = sum(self.history) / len(self.history)
        return mean, {"mean": mean}

    latex, terms = "r", {"mean": ""}
""",
        "keeps state in self.history",
        9,
    ),
    "global_counter": (
        """
calls = 0

def reward_fn(obs, action, next_obs, info):
    global calls
    calls += 1
    return float(calls), {"n": float(calls)}
""",
        "keeps state in calls",
        5,
    ),
    "memory_in_a_global": (
        """
memory = {"best": 0.0}

def reward_fn(obs, action, next_obs, info):
    x = float(info["position_x"])
    gain = max(x - memory["best"], 0.0)
    memory["best"] = max(memory["best"], x)
    return gain, {"gain": gain}
""",
        "keeps state in memory",
        7,
    ),
    "counter_in_a_closure": (
        """
def make_reward():
    calls = 0

    def reward(obs, action, next_obs, info):
        nonlocal calls
        calls += 1
        return float(calls), {"n": float(calls)}

    return reward

reward_fn = make_reward()
""",
        "keeps state in calls",
        6,
    ),
    "mutable_default_argument": (
        """
def reward_fn(obs, action, next_obs, info, seen=[]):
    seen.append(float(obs[0]))
    mean = sum(seen[-3:]) / len(seen[-3:])
    return mean, {"mean": mean}
""",
        "keeps state in seen",
        3,
    ),
    "attribute_of_a_function": (
        """
def reward_fn(obs, action, next_obs, info):
    last = getattr(reward_fn, "last", 0.0)
    reward_fn.last = float(obs[0])
    return last, {"last": last}
""",
        "keeps state in reward_fn.last",
        4,
    ),
    "bonus_after_a_thousand_steps": (
        """
class Patient(RewardFunction):
    def __init__(self):
        self.steps = 0

    def _count(self):
        self.steps += 1

    def compute(self, obs, action, next_obs, info):
        self._count()
        bonus = 1.0 if self.steps > 1000 else 0.0
        speed = float(info["velocity_x"])
        return speed + bonus, {"speed": speed, "bonus": bonus}

    latex, terms = "r", {"speed": "", "bonus": ""}
""",
        "keeps state in self.steps",
        7,
    ),
    "memory_under_another_name": (
        """
class Sly(RewardFunction):
    def __init__(self):
        self.falls = []

    def compute(self, obs, action, next_obs, info):
        falls = self.falls
        if info["up"] < 0.97:
            falls.append(1)
        penalty = -1.0 if len(falls) > 500 else 0.0
        return penalty, {"penalty": penalty}

    latex, terms = "r", {"penalty": ""}
""",
        "keeps state in self.falls",
        9,
    ),
    "iterator_that_goes_on": (
        """
import itertools

ticks = itertools.count()

def reward_fn(obs, action, next_obs, info):
    late = 1.0 if next(ticks) > 5000 else 0.0
    return late, {"late": late}
""",
        "keeps ticks, of type count",
        None,
    ),
    "random_numbers": (
        """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    noise = 0.01 * np.random.randn()
    return float(obs[0] + noise), {"height": float(obs[0]), "noise": noise}
""",
        "draws random numbers",
        5,
    ),
    "term_that_appears_sometimes": (
        """
def reward_fn(obs, action, next_obs, info):
    terms = {"speed": float(info["velocity_x"])}
    if info["up"] < 0.9:
        terms["fallen"] = -1.0
    return sum(terms.values()), terms
""",
        "has the term 'fallen' only sometimes",
        None,
    ),
    "elements_picked_by_a_condition": (
        """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    joints = obs[2:8]
    far = float(np.sum(joints[np.abs(joints) > 0.3]))
    return -far, {"far": -far}
""",
        "picks elements of an array by a measured value",
        6,
    ),
    "too_many_ways": (
        """
def reward_fn(obs, action, next_obs, info):
    bent = []
    for j in range(2, 17):
        if obs[j] > 0.0:
            bent.append(j * obs[j])
    worst = max(bent) if bent else 0.0
    return -worst, {"worst": -worst}
""",
        "more than 32 different ways",
        6,
    ),
    "numbers_as_text": (
        """
def reward_fn(obs, action, next_obs, info):
    rounded = float(f"{info['velocity_x']:.1f}")
    return rounded, {"rounded": rounded}
""",
        "turns a measured value into text",
        3,
    ),
    "error_on_real_steps": (
        """
import math

def reward_fn(obs, action, next_obs, info):
    root = math.sqrt(float(info["velocity_x"]))
    return root, {"root": root}
""",
        "raised ValueError",
        5,
    ),
    "by_hand_and_wrong": (
        """
import numpy as np

class Wrong(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        effort = -float(np.sum(action ** 2))
        return effort, {"effort": effort}

    def compute_batch(self, obs, action, next_obs, info):
        effort = np.full(len(obs), -np.sum(action ** 2))
        return effort, {"effort": effort}

    latex, terms = "r", {"effort": ""}
""",
        "the total differs at row",
        None,
    ),
}
