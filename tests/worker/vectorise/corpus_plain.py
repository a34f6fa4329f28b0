"""Rewards without branches, in the styles that language models write."""

PLAIN = {
    "class_as_printed": """
from p2p.training.reward_function import RewardFunction

class SpeedReward(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        v = float(info.get("x_velocity", 0.0))
        ctrl = -0.1 * float(sum(a**2 for a in action))
        return v + ctrl, {"speed": v, "ctrl": ctrl}

    @property
    def latex(self):
        return "r = v_x"

    @property
    def terms(self):
        return {"speed": "forward velocity", "ctrl": "control penalty"}
""",
    "function_with_numpy": '''
import numpy as np

def reward_fn(obs, action, next_obs, info):
    """Runs fast.

    LaTeX: r = v_x - 0.1 |a|^2
    Terms:
        forward: velocity
        control: price
    """
    forward = info["x_velocity"]
    control = -0.1 * np.sum(np.square(action))
    return float(forward + control), {"forward": float(forward), "control": float(control)}
''',
    "norms_and_means_without_axis": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    posture = np.exp(-2.0 * np.linalg.norm(obs[1:8] - 0.1))
    smooth = -0.01 * np.abs(action).max() - 0.02 * action.mean() ** 2
    spread = -0.05 * np.std(next_obs[8:])
    total = posture + smooth + spread
    return float(total), {"posture": float(posture), "smooth": float(smooth), "spread": float(spread)}
""",
    "indices_and_differences": """
def reward_fn(obs, action, next_obs, info):
    height_gain = next_obs[0] - obs[0]
    pitch = obs[1]
    joint_speed = next_obs[8:] - obs[8:]
    terms = {
        "height": 5.0 * height_gain,
        "pitch": -abs(pitch),
        "jerk": -0.001 * (joint_speed ** 2).sum(),
        "last": 0.1 * next_obs[-1],
    }
    return sum(terms.values()), terms
""",
    "weights_in_init": """
import numpy as np

class Weighted(RewardFunction):
    def __init__(self):
        self.w_vel = 1.5
        self.w_ctrl = 0.05
        self.target = np.array([0.0, 0.2, -0.2, 0.1, 0.0, 0.3])
        self.scales = {"pose": 0.5, "alive": 0.1}

    def compute(self, obs, action, next_obs, info):
        vel = self.w_vel * np.tanh(info["velocity_x"] / 2.0)
        ctrl = -self.w_ctrl * np.clip(np.sum(action ** 2), 0.0, 4.0)
        pose = self.scales["pose"] * np.exp(-np.sum((next_obs[2:8] - self.target) ** 2))
        alive = self.scales["alive"]
        return float(vel + ctrl + pose + alive), {
            "vel": float(vel), "ctrl": float(ctrl), "pose": float(pose), "alive": alive,
        }

    @property
    def latex(self):
        return "r"

    @property
    def terms(self):
        return {"vel": "", "ctrl": "", "pose": "", "alive": ""}
""",
    "tolerances": """
import numpy as np

from p2p.rewards.tolerance import tolerance

class Tolerant(RewardFunction):
    weights = {"move": 1.0, "stand": 0.5, "effort": 0.1}

    def compute(self, obs, action, next_obs, info):
        w = self.weights
        upright = tolerance(info["up"], 0.7, 1.0, 0.7)
        moving = tolerance(float(info["velocity_x"]), 1.0, np.inf, 1.0)
        still = tolerance(obs[8:], -0.5, 0.5, margin=2.0).mean()
        step = tolerance(next_obs[0], -0.1, 0.1, 0.0)
        terms = {
            "move": w["move"] * upright * moving,
            "stand": w["stand"] * (still + step) / (1.0 + upright),
            "effort": -w["effort"] * info["control_effort"],
        }
        return sum(terms.values()), terms

    latex, terms = "r", {"move": "", "stand": "", "effort": ""}
""",
    "quaternion_to_euler": """
import math

def quat_to_euler(w, x, y, z):
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, pitch, yaw

def reward_fn(obs, action, next_obs, info):
    roll, pitch, yaw = quat_to_euler(*obs[1:5])
    level = math.exp(-(roll ** 2 + pitch ** 2))
    heading = math.cos(yaw)
    total = level + 0.3 * heading
    return total, {"level": level, "heading": 0.3 * heading}
""",
    "lengths_and_integer_division": """
def reward_fn(obs, action, next_obs, info):
    n = len(action)
    half = n // 2
    left = sum(action[:half]) / half
    right = sum(action[half:]) / (n - half)
    symmetry = -abs(left - right)
    size = obs.shape[0] % 7 + action.size
    bins = (info["position_x"] * 10.0) // 3 * 0.01
    turn = (info["position_x"] % 0.5) / size
    return symmetry + bins + turn, {"symmetry": symmetry, "bins": bins, "turn": turn}
""",
    "phase_of_the_time": """
import math

class Gait(RewardFunction):
    FREQUENCY = 1.5

    def _phase(self, info, offset=0.0):
        return math.fmod(info["time"] * self.FREQUENCY + offset, 1.0)

    def compute(self, obs, action, next_obs, info):
        swing = math.sin(2.0 * math.pi * self._phase(info))
        other = math.cos(2.0 * math.pi * self._phase(info, offset=0.5))
        legs = swing * float(obs[2]) + other * float(obs[5])
        beat = round(info["time"], 1) * 0.01
        return legs + beat, {"legs": legs, "beat": beat}

    latex, terms = "r", {"legs": "", "beat": ""}
""",
    "python_builtins": """
def reward_fn(obs, action, next_obs, info):
    v = float(info["velocity_x"])
    speed = min(max(v, -1.0), 3.0)
    largest = max(abs(a) for a in action)
    smallest = min(action)
    spread = max(action) - smallest
    steps = int(v * 4) * 0.1
    share = pow(max(v, 0.0), 1.5)
    middle = sorted([obs[2], obs[3], obs[4]])[1]
    parts = [speed, -0.1 * largest, -0.05 * spread, steps, 0.1 * share, round(middle, 2)]
    return sum(parts), dict(zip(["speed", "largest", "spread", "steps", "share", "middle"], parts))
""",
    "matrices": """
import numpy as np

W = np.arange(36, dtype=float).reshape(6, 6) / 36.0
GOAL = np.array([1.0, 0.0, -1.0])

def reward_fn(obs, action, next_obs, info):
    a = np.asarray(action, dtype=np.float64)
    quadratic = -0.01 * float(a @ W @ a)
    align = float(np.dot(obs[2:5], GOAL) / (np.linalg.norm(obs[2:5]) + 1e-8))
    twist = 0.01 * float(np.cross(obs[2:5], GOAL)[1])
    coupling = 0.01 * float(np.outer(obs[2:4], action[:2]).sum())
    return quadratic + align + twist + coupling, {
        "quadratic": quadratic, "align": align, "twist": twist, "coupling": coupling
    }
""",
    "arrays_built_from_numbers": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    velocity = np.array([info["velocity_x"], info["velocity_z"]])
    direction = np.array([1.0, 0.0])
    forward = float(velocity.dot(direction))
    state = np.concatenate([obs[:3], action[:2], [info["up"]]])
    legs = np.stack([obs[2:5], obs[5:8]])
    symmetric = -float(np.abs(legs[0] - legs[1]).mean())
    energy = -0.01 * float(np.linalg.norm(state))
    span = 0.01 * float(np.diff(legs, axis=0).max() + legs.sum(axis=1)[1])
    return forward + symmetric + energy + span, {
        "forward": forward, "symmetric": symmetric, "energy": energy, "span": span
    }
""",
    "lambdas_and_comprehensions": """
import numpy as np

class Kernels(RewardFunction):
    def __init__(self):
        self.weights = {"height": 1.0, "up": 0.5, "pitch": 0.25}
        self.kernel = lambda x, s: np.exp(-((x / s) ** 2))

    def compute(self, obs, action, next_obs, info):
        raw = {
            "height": self.kernel(info["height"] - 0.6, 0.1),
            "up": info["up"],
            "pitch": self.kernel(info["pitch"], 0.5),
        }
        terms = {name: self.weights[name] * value for name, value in raw.items()}
        return float(sum(terms.values())), terms

    latex, terms = "r", {"height": "", "up": "", "pitch": ""}
""",
    "potential_difference": """
import numpy as np
from math import exp, hypot

def potential(o, goal):
    return -hypot(o[0] - goal[0], o[1] - goal[1])

def reward_fn(obs, action, next_obs, info, goal=(0.5, 0.0), gamma=0.99):
    shaping = gamma * potential(next_obs, goal) - potential(obs, goal)
    bonus = exp(-10.0 * float(np.sum((next_obs[:2] - np.array(goal)) ** 2)))
    return shaping + bonus, {"shaping": shaping, "bonus": bonus}
""",
}
PLAIN["tolerance_without_an_import"] = PLAIN["tolerances"].replace("from p2p.rewards.tolerance import tolerance\n", "")
