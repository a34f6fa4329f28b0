import pytest
from made_up_rows import HEAD, proven

from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.vectorise import NotVectorised, vectorise

KEPT = {
    "a dict of the class": ("    seen = {}\n", "self.seen['x'] = v", "self.seen", 7),
    "an array in place": ("    w = np.ones(2)\n", "w = self.w\nw += v", "", 8),
    "a list in a dict": ("    m = {'h': []}\n", "h = self.m['h']\nh.append(v)", "self.m['h']", 8),
    "a set": ("    s = set()\n", "self.s.add(1)", "self.s", 7),
    "an attribute by name": ("    a = 0\n", "setattr(self, 'a', 1)", "", 7),
    "an object": ("    o = Box()\n", "self.o.value = v", "self.o.value", 7),
    "a list through a helper": ("    h = []\n", "push(self.h, v)", "self.h", None),
}
CLASS = """
class R(RewardFunction):
{attributes}    latex, terms = "r", {{"x": ""}}
    def compute(self, obs, action, next_obs, info):
        v = obs[0]
{body}
        return float(v), {{"x": float(v)}}

def push(where, what):
    where.append(what)
"""
BOX = "class Box:\n    value = 0.0\n"


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_from_one_call_to_the_next_is_found(name):
    attributes, body, kept, line = KEPT[name]
    indented = "\n".join(f"        {part}" for part in body.split("\n"))
    boxed = "Box" in attributes
    source = (BOX if boxed else HEAD) + CLASS.format(attributes=attributes, body=indented)
    with pytest.raises(NotVectorised) as refused:
        proven(source)
    if kept:
        assert refused.value.reason == f"keeps state in {kept}"
    if line is not None:
        assert refused.value.line == source.count("\n", 0, source.index(body.split("\n")[-1].strip())) + 1


def test_a_method_that_only_the_constructor_calls_may_set_attributes():
    proven("""
class R(RewardFunction):
    latex, terms = "r", {"x": ""}
    def __init__(self):
        self.reset()
    def reset(self):
        self.weights = {"x": 2.0}
        self.weights["x"] = 3.0
    def compute(self, obs, action, next_obs, info):
        terms = {"x": self.weights["x"] * obs[0]}
        terms["x"] += 1.0
        return sum(terms.values()), terms
""")


def test_a_phase_that_a_sequence_is_in_is_state():
    source = """
class R(RewardFunction):
    latex, terms = "r", {"x": ""}
    def __init__(self):
        self.phase = 0
    def advance(self, info):
        if info.get("_episode_start", False):
            self.phase = 0
    def compute(self, obs, action, next_obs, info):
        self.advance(info)
        return float(self.phase), {"x": float(self.phase)}
"""
    with pytest.raises(NotVectorised, match=r"line 8: keeps state in self\.phase"):
        vectorise(LoadedReward(source))


@pytest.mark.parametrize(
    "import_line", ["from numpy.random import rand", "from numpy import random", "rand = np.random.rand"]
)
def test_random_numbers_are_refused_however_they_are_reached(import_line):
    source = f"{HEAD}{import_line}\ndef reward_fn(obs, action, next_obs, info):\n    return 0.0, {{'x': 0.0}}\n"
    with pytest.raises(NotVectorised, match="draws random numbers"):
        vectorise(LoadedReward(source))
