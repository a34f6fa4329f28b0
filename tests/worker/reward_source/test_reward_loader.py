import numpy as np
import pytest

from p2p.contracts.errors import InvalidReward
from p2p.worker.reward_source.docstring import read_docstring, with_raw_docstrings
from p2p.worker.reward_source.loader import LoadedReward

OBS, ACTION = np.zeros(17), np.full(6, 0.5)

COUNTER = """
class Counter(RewardFunction):
    latex, terms = "n", {"n": "calls"}

    def __init__(self):
        self.calls = 0

    def compute(self, obs, action, next_obs, info):
        self.calls += 1
        return float(self.calls), {"n": float(self.calls)}
"""
CLOSURE = '''
def make_reward():
    calls = 0

    def reward(obs, action, next_obs, info):
        """LaTeX: n
        Terms:
            n: calls
        """
        nonlocal calls
        calls += 1
        return float(calls), {"n": float(calls)}

    return reward

reward_fn = make_reward()
'''
GLOBAL = """
calls = 0

def reward_fn(obs, action, next_obs, info):
    global calls
    calls += 1
    return float(calls), {"n": float(calls)}
"""
ESCAPES = r'''
"""Rewards \xi and \N."""

def reward_fn(obs, action, next_obs, info):
    """LaTeX: r = \xi v_x + \underline{\theta} \frac{1}{2}
    Terms:
        v: forward \velocity
    """
    text = f"{info['v']:.1f}\t"
    return float(text.strip()), {"v": float(text)}
'''


def test_a_class_as_printed_in_the_reference_loads(class_reward):
    reward = LoadedReward(class_reward)
    assert reward.description.latex == r"r = v_x - 0.1 \|a\|^2"
    assert reward.description.terms == {
        "speed": "forward velocity",
        "ctrl": "control penalty",
    }
    total, terms = reward.fresh()(OBS, ACTION, OBS, {"x_velocity": 2.0})
    assert total == sum(terms.values()) == pytest.approx(2.0 - 0.1 * 6 * 0.25)


def test_a_function_as_printed_in_the_reference_loads(legacy_reward):
    reward = LoadedReward(legacy_reward)
    assert reward.description.latex == "r = v_x"
    assert reward.description.terms == {"speed": "forward velocity"}
    assert reward.fresh()(OBS, ACTION, OBS, {"x_velocity": 2.0}) == (2.0, {"speed": 2.0})


@pytest.mark.parametrize("source", [COUNTER, CLOSURE, GLOBAL], ids=["class", "closure", "global"])
def test_instances_share_no_state(source):
    reward = LoadedReward(source)
    first, second = reward.fresh(), reward.fresh()
    values = [instance(OBS, ACTION, OBS, {})[0] for instance in (first, first, second, first, second)]
    assert values == [1.0, 2.0, 1.0, 3.0, 2.0]


def test_backslashes_in_docstrings_are_text_and_elsewhere_they_are_escapes():
    reward = LoadedReward(ESCAPES)
    assert reward.description.latex == r"r = \xi v_x + \underline{\theta} \frac{1}{2}"
    assert "forward \\velocity" in reward.description.terms.values()
    assert reward.fresh()(OBS, ACTION, OBS, {"v": 1.26}) == (1.3, {"v": 1.3})


def test_making_docstrings_raw_keeps_line_numbers_and_raw_strings():
    source = 'def f():\n    r"""\\a\n    b"""\n    return """\\n"""\n\n\ndef g():\n    "x"\n'
    assert with_raw_docstrings(source) == source.replace('    "x"', '    r"x"')


def test_a_docstring_may_spread_formula_and_terms_over_lines():
    description = read_docstring(r"""Runs fast.

    LaTeX: r = v_x
        - 0.1 \|a\|^2

    Terms:
        speed: forward velocity,
            in m/s: the more the better
        - `ctrl`: control penalty

    Returns:
        ignored: this
    """)
    assert description.words == "Runs fast."
    assert description.latex == r"r = v_x - 0.1 \|a\|^2"
    assert description.terms == {"speed": "forward velocity, in m/s: the more the better", "ctrl": "control penalty"}


def test_numpy_and_the_features_may_be_imported():
    source = "import numpy as np\nfrom p2p.rewards.tolerance import tolerance\nimport math\n" + GLOBAL
    assert LoadedReward(source).fresh()(OBS, ACTION, OBS, {})[0] == 1.0


def test_of_classes_that_build_on_each_other_the_last_one_is_the_reward():
    source = COUNTER + "\n\nclass Twice(Counter):\n    description = 'twice'\n"
    assert LoadedReward(source).description.words == "twice"


def test_the_simulator_is_not_offered():
    reward = LoadedReward("def reward_fn(o, a, n, i):\n    return mujoco.x, {}\n").fresh()
    with pytest.raises(NameError):
        reward(OBS, ACTION, OBS, {})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no reward found"),
        ("x = 1", "no reward found"),
        ("def reward_fn(o, a, n, i)\n    return 0.0, {}", "line 1: not valid Python: expected ':'"),
        ("class A(RewardFunction):\n  latex = '\\xi'\n", r"line 2: not valid Python: .*r'…'"),
        ("x = 1\nimport os\n", "line 2: imports 'os'"),
        ("from mujoco import MjData\n", "line 1: imports 'mujoco.MjData'"),
        ("from numpyx import y\n", "line 1: imports 'numpyx.y'"),
        ("x = 1\ny = 1 / 0\n", "line 2: the reward raised ZeroDivisionError"),
        ("raise SystemExit(0)", "line 1: the reward raised SystemExit"),
        ("class A(RewardFunction):\n    latex = ''\n", "class A lacks compute, terms: define them"),
        (COUNTER.replace("(self):", "(self, n):"), "must work without arguments"),
        (COUNTER + COUNTER.replace("Counter", "Other"), "several rewards found: Counter, Other"),
        (COUNTER + GLOBAL, "several rewards found: Counter, reward_fn"),
        (COUNTER.replace('{"n": "calls"}', '["n"]'), "`terms` must be a property that returns a dict"),
        (COUNTER.replace('"n", {', "1, {"), "`latex` and `description`"),
        ("x = '\0'", "^not valid Python"),
    ],
)
def test_what_does_not_load_is_refused_with_the_line_and_what_was_expected(source, message):
    with pytest.raises(InvalidReward, match=message):
        LoadedReward(source)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidReward, match=r"no\.py"):
        LoadedReward.from_file(tmp_path / "no.py")


def test_tolerance_is_there_without_an_import() -> None:
    body = "    near = tolerance(0.5, 1.0, 2.0, 1.0)\n    return near, {'near': near}"
    source = f"def reward_fn(obs, action, next_obs, info):\n{body}"
    total, _ = LoadedReward(source).fresh().compute(np.zeros(1), np.zeros(1), np.zeros(1), {})
    assert total == pytest.approx(0.5)
