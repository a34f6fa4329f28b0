"""Rewards that branch on measured values, in the styles that language models write."""

BRANCHES = {
    "ternaries": """
def reward_fn(obs, action, next_obs, info):
    v = info["velocity_x"]
    forward = v if v > 0 else 2.0 * v
    upright = 1.0 if info["up"] > 0.9 else (0.5 if info["up"] > 0.5 else -1.0)
    still = 0.0 if not info["contact_bfoot"] else 0.3
    return forward + upright + still, {"forward": forward, "upright": upright, "still": still}
""",
    "ladder_of_ifs": """
class Ladder(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        pitch = abs(info["pitch"])
        if pitch < 0.1:
            posture = 1.0
        elif pitch < 0.3:
            posture = 0.5
        elif pitch < 0.6:
            posture = 0.1 - pitch
        else:
            posture = -1.0
        speed = float(info["x_velocity"])
        bonus = 0.0
        if speed > 0.2:
            bonus += 0.5
            if speed > 0.6:
                bonus += speed
        elif speed < -0.2:
            bonus -= 0.25 * abs(speed)
        return posture + bonus, {"posture": posture, "bonus": bonus}

    latex, terms = "r", {"posture": "", "bonus": ""}
""",
    "early_return_when_fallen": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    terms = {"forward": 0.0, "control": 0.0, "fallen": 0.0}
    terms["control"] = -0.05 * float(np.square(action).sum())
    if info["up"] < 0.9:
        terms["fallen"] = -1.0
        return sum(terms.values()), terms
    terms["forward"] = float(info["velocity_x"])
    if terms["forward"] < -0.5:
        return -2.0, {"forward": -2.0, "control": 0.0, "fallen": 0.0}
    return sum(terms.values()), terms
""",
    "helpers_with_early_returns": """
import math

def smoothstep(x, low, high):
    if x <= low:
        return 0.0
    if x >= high:
        return 1.0
    t = (x - low) / (high - low)
    return t * t * (3.0 - 2.0 * t)

class Helpers(RewardFunction):
    def _posture(self, info):
        if info["up"] > 0.95:
            return 1.0
        for limit, value in ((0.9, 0.6), (0.8, 0.3), (0.5, 0.1)):
            if info["up"] > limit:
                return value
        return 0.0

    def compute(self, obs, action, next_obs, info):
        forward = smoothstep(info["velocity_x"], -0.5, 0.8)
        posture = self._posture(info)
        return forward + posture, {"forward": forward, "posture": posture}

    latex, terms = "r", {"forward": "", "posture": ""}
""",
    "dict_written_in_branches": """
def reward_fn(obs, action, next_obs, info):
    terms = {}
    v = float(info["velocity_x"])
    if v > 0.3:
        terms["speed"] = v
        terms["bonus"] = 0.5
    else:
        terms["speed"] = 0.5 * v
        terms["bonus"] = 0.0
    terms["posture"] = info["up"]
    if info["height"] < 0.55:
        terms["posture"] -= 0.5
        terms["bonus"] *= 0.1
    for name in ("speed", "posture"):
        if terms[name] < 0:
            terms[name] *= 2.0
    total = 0.0
    for value in terms.values():
        total += value
    return total, terms
""",
    "guards_that_short_circuit": """
import math

def reward_fn(obs, action, next_obs, info):
    v = float(info["velocity_x"])
    z = float(obs[0])
    good = v > 0 and math.log(v) > -1.0
    bad = v <= 0 or math.sqrt(v) < 0.5
    a = 1.0 if good else 0.0
    b = -0.5 if bad and z < 0.0 else 0.0
    c = (z > 0 and 1.0 / z) or 0.25
    return a + b + min(c, 5.0), {"good": a, "bad": b, "near": min(c, 5.0)}
""",
    "divisions_behind_ifs": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    contact = info["contact_bfoot"] + info["contact_ffoot"]
    if contact > 0:
        share = info["contact_bfoot"] / contact
    else:
        share = 0.0
    norm = np.linalg.norm(action)
    if norm > 0:
        direction = float(action[0] / norm)
    else:
        direction = 0.0
    return share + direction, {"share": share, "direction": direction}
""",
    "root_of_a_negative_number_not_taken": """
import math

def reward_fn(obs, action, next_obs, info):
    gain = float(next_obs[0] - obs[0])
    up = math.sqrt(gain) if gain >= 0 else -math.sqrt(-gain)
    if gain > 0.01:
        scaled = math.log10(gain) + math.acos(min(gain, 1.0))
    else:
        scaled = math.exp(min(gain * 1000.0, 5.0))
    return up + 0.1 * scaled, {"up": up, "scaled": 0.1 * scaled}
""",
    "chained_comparisons_and_logic": """
def reward_fn(obs, action, next_obs, info):
    h, v, pitch = info["height"], info["velocity_x"], info["pitch"]
    healthy = 0.5 < h < 0.75 and -0.4 <= pitch <= 0.4
    fast = v > 0.5 or (v > 0.2 and not info["airborne"])
    alive = 1.0 if healthy else -0.5
    speed = v * 2.0 if fast and healthy else v
    mode = float(healthy) + float(not fast) - int(healthy and fast)
    return alive + speed + 0.01 * mode, {"alive": alive, "speed": speed, "mode": 0.01 * mode}
""",
    "loop_over_joints": """
class Limits(RewardFunction):
    LIMITS = [0.5, 0.6, 0.4, 0.7, 0.8, 0.3]

    def compute(self, obs, action, next_obs, info):
        penalty, checked, first = 0.0, 0, -1.0
        for j in range(6):
            angle = abs(obs[2 + j])
            if angle < 0.05:
                continue
            checked += 1
            if angle > self.LIMITS[j]:
                penalty -= angle - self.LIMITS[j]
                if penalty < -1.0:
                    break
            elif first < 0:
                first = float(j)
        share = checked / 6
        return penalty + share + 0.01 * first, {"limits": penalty, "share": share, "first": 0.01 * first}

    latex, terms = "r", {"limits": "", "share": "", "first": ""}
""",
    "lists_over_legs": """
import numpy as np

LEGS = {"back": (2, 3, 4), "front": (5, 6, 7)}

def reward_fn(obs, action, next_obs, info):
    bends = [sum(abs(obs[i]) for i in joints) for joints in LEGS.values()]
    mean_bend = np.mean(bends)
    loads = [a ** 2 if a > 0 else -a for a in action]
    work = -0.1 * np.mean([load * abs(s) for load, s in zip(loads, obs[11:17])])
    rest = np.mean([np.exp(-abs(obs[j])) for j in range(2, 8)])
    terms = {f"leg_{name}": -0.1 * bend for name, bend in zip(LEGS, bends)}
    terms.update({"work": work, "rest": rest, "bend": -0.01 * mean_bend})
    return float(sum(terms.values())), terms
""",
    "counting": """
def reward_fn(obs, action, next_obs, info):
    feet = [info["contact_bfoot"], info["contact_ffoot"]]
    down = sum(1 for f in feet if f > 0.5)
    strong = len([a for a in action if abs(a) > 0.8])
    any_strong = any(abs(a) > 0.9 for a in action)
    all_small = all(abs(q) < 0.4 for q in obs[2:8])
    both = (info["contact_bfoot"] > 0.5) + (info["contact_ffoot"] > 0.5)
    contact = 0.5 * down + 0.1 * both
    effort = -0.05 * strong - (0.2 if any_strong else 0.0)
    calm = 0.3 if all_small else 0.0
    return contact + effort + calm, {"contact": contact, "effort": effort, "calm": calm}
""",
    "wrapping_an_angle": """
import math

def wrap(angle):
    while angle > math.pi:
        angle -= 2.0 * math.pi
    while angle < -math.pi:
        angle += 2.0 * math.pi
    return angle

def reward_fn(obs, action, next_obs, info):
    error = wrap(3.0 * info["rotation_y"] + 2.0)
    aim = math.cos(error)
    close = -abs(error)
    return aim + 0.1 * close, {"aim": aim, "close": 0.1 * close}
""",
    "health_gate": """
import numpy as np

class Gated(RewardFunction):
    MIN_HEIGHT = 0.5

    @property
    def gate_weight(self):
        return 2.0

    def _is_healthy(self, next_obs, info):
        if not np.isfinite(next_obs).all():
            return False
        if info["height"] < self.MIN_HEIGHT:
            return False
        return bool(abs(info["pitch"]) < 0.5)

    @staticmethod
    def _clip(value, limit=1.0):
        return float(np.clip(value, -limit, limit))

    def compute(self, obs, action, next_obs, info):
        healthy = self._is_healthy(next_obs, info)
        terms = {"alive": 1.0 if healthy else 0.0}
        speed = self._clip(info["velocity_x"], limit=2.0)
        terms["forward"] = self.gate_weight * speed * healthy
        terms["control"] = -0.1 * float(np.mean(np.square(action))) if healthy else -0.2
        return sum(terms.values()), terms

    latex, terms = "r", {"alive": "", "forward": "", "control": ""}
""",
    "nested_functions": """
def reward_fn(obs, action, next_obs, info):
    total = 0.0
    terms = {}

    def add(name, value, weight=1.0):
        nonlocal total
        if value < -1.0:
            value = -1.0
        terms[name] = weight * value
        total += weight * value

    def bounded(x):
        return max(min(x, 1.0), -1.0)

    add("forward", float(info["velocity_x"]), 2.0)
    add("posture", bounded(info["up"]) if info["up"] > 0 else -2.0)
    if info["height"] > 0.6:
        add("height", info["height"])
    else:
        add("height", 0.0)
    return total, terms
""",
    "errors_that_are_caught": """
import math

def safe_log(x):
    try:
        return math.log(x)
    except ValueError:
        return -5.0

def reward_fn(obs, action, next_obs, info):
    speed = safe_log(info["velocity_x"])
    try:
        ratio = info["contact_bfoot"] / info["contact_ffoot"]
    except ZeroDivisionError:
        ratio = 0.5
    missing = info.get("no_such_feature", 0.0)
    extra = 0.1 if "up" in info and "nothing" not in info else 0.0
    return speed + ratio + missing + extra, {"speed": speed, "ratio": ratio, "other": missing + extra}
""",
    "table_by_phase": """
PHASES = [0.2, 0.8, -0.4]

def reward_fn(obs, action, next_obs, info):
    phase = int(info["time"] * 2.0) % len(PHASES)
    target = PHASES[phase]
    follow = -abs(float(obs[2]) - target)
    strongest = int(abs(action).argmax())
    even = 0.1 * (strongest % 2)
    return follow + even, {"follow": follow, "even": even}
""",
    "arrays_filled_in_loops": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    costs = np.zeros(6)
    for i in range(6):
        if action[i] > 0.5:
            costs[i] = action[i] ** 2
        elif action[i] < -0.5:
            costs[i] += 0.5
    gains = np.ones(3)
    gains *= obs[2:5]
    costs[1:3] = 0.1
    effort = -0.1 * costs.sum()
    gain = 0.1 * float(gains.max())
    return effort + gain, {"effort": effort, "gain": gain}
""",
    "names_chosen_by_data": """
class Modes(RewardFunction):
    def __init__(self):
        self.modes = {"walk": {"speed": 1.0, "posture": 0.5}, "run": {"speed": 2.0, "posture": 0.1}}

    def compute(self, obs, action, next_obs, info):
        mode = "run" if info["velocity_x"] > 0.4 else "walk"
        weights = self.modes[mode]
        speed = weights["speed"] * info["velocity_x"]
        posture = weights["posture"] * info["up"]
        return speed + posture, {"speed": speed, "posture": posture}

    latex, terms = "r", {"speed": "", "posture": ""}
""",
    "inputs_changed_in_place": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    obs[0] = 0.0
    action *= 2.0
    np.clip(action, -1.0, 1.0, out=action)
    if info["up"] < 0.8:
        next_obs[1:3] = 0.0
    info["gain"] = next_obs[1] - obs[1]
    size = -0.1 * float(np.abs(action).sum())
    pose = -float(np.linalg.norm(obs[:4])) + info["gain"]
    return size + pose, {"size": size, "pose": pose}
""",
    "not_a_number": """
import numpy as np

def reward_fn(obs, action, next_obs, info):
    cosine = np.arccos(obs[1] * 3.0)
    if cosine > 1.0:
        angle = 1.0
    elif cosine <= 1.0:
        angle = 0.5
    else:
        angle = -1.0
    largest = max(0.0, cosine)
    smallest = min(cosine, 2.0)
    known = 0.0 if np.isnan(smallest) else float(smallest)
    return angle + largest + known, {"angle": angle, "largest": largest, "known": known}
""",
    "four_legs_of_an_ant": """
import numpy as np

class AntReward(RewardFunction):
    LEGS = [(5, 6), (7, 8), (9, 10), (11, 12)]
    FEET = ["left_ankle_geom", "right_ankle_geom", "third_ankle_geom", "fourth_ankle_geom"]

    def compute(self, obs, action, next_obs, info):
        z = float(next_obs[0])
        if not 0.2 <= z <= 1.0:
            return -1.0, {"forward": 0.0, "legs": 0.0, "contact": 0.0, "health": -1.0}
        q = next_obs[1:5]
        up = 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)
        legs = 0.0
        for hip, ankle in self.LEGS:
            bend = abs(next_obs[hip]) + 0.5 * abs(next_obs[ankle])
            legs -= bend if bend > 0.8 else 0.1 * bend
        contacts = [info[f"contact_{foot}"] for foot in self.FEET]
        down = sum(contacts)
        contact = 0.2 if 2 <= down <= 3 else -0.05 * abs(down - 2)
        forward = float(np.clip(info["velocity_x"], -1, 3)) * max(float(up), 0.0)
        health = 0.1 if all(c >= 0 for c in contacts) and up > 0.5 else 0.0
        return forward + legs + contact + health, {
            "forward": forward, "legs": legs, "contact": contact, "health": health
        }

    latex, terms = "r", {"forward": "", "legs": "", "contact": "", "health": ""}
""",
    "written_by_hand": """
import numpy as np

class ByHand(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        speed = float(info["velocity_x"])
        lean = -abs(float(obs[1])) if obs[1] < 0 else 0.0
        return speed + lean, {"speed": speed, "lean": lean}

    def compute_batch(self, obs, action, next_obs, info):
        speed = info["velocity_x"]
        lean = np.where(obs[:, 1] < 0, -np.abs(obs[:, 1]), 0.0)
        return speed + lean, {"speed": speed, "lean": lean}

    latex, terms = "r", {"speed": "", "lean": ""}
""",
}
ANTS = {"four_legs_of_an_ant", "quaternion_to_euler"}
"""Rewards for the ant; all others are for the cheetah."""
