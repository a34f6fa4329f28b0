import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.contracts.errors import InvalidReward
from p2p.worker.reward.gate import violations

HEAD = "def reward_fn(obs, action, next_obs, info):\n"
"""Line 1 of a reward whose body is the second line."""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import os", "imports 'os'. It may import __future__"),
        ("import os, sys as numpy", "imports 'sys'. It may"),
        ("from subprocess import run", "imports 'subprocess.run'"),
        ("from . import x", "imports '..x'"),
        ("from numpy import load", "imports 'numpy.load', which reads from a file. Compute with arrays alone."),
        ("import numpy.ctypeslib", "imports 'numpy.ctypeslib', which is no computation"),
        ("x = np.load('x')", "uses np.load, which reads from a file"),
        ("x = numpy.ctypeslib.ctypes", "uses numpy.ctypeslib, which is no computation"),
        ("np.savetxt('x', obs)", "uses np.savetxt, which writes to a file"),
        ("np.sum = len", "assigns np.sum. Assign to a variable"),
        ("math.pi = 3", "assigns math.pi"),
        ("obs.tofile('x')", "uses .tofile"),
        ("x = open('x')", "uses open. No files can be read or written"),
        ("x = eval('1')", "uses eval. Write the computation itself."),
        ("x = globals()['np']", "uses globals. Use variables"),
        ("x = __import__('os')", "uses __import__. Use an import statement."),
        ("x = ().__class__.__mro__", "uses .__mro__"),
        ("x = reward_fn.__globals__", "uses .__globals__"),
        ("x = getattr(obs, '__array_interface__')", "uses .__array_interface__"),
        ("x = getattr(obs, 'ct' + 'ypes')", "calls getattr with a name that is computed. Write the name as text"),
        ("x = (i for i in obs).gi_frame", "uses .gi_frame"),
        ("x = 9 ** 9 ** 9", "has a power that is too large"),
        ("x = 2 ** 100_000", "has a power that is too large"),
        ("async def f(): pass", "is asynchronous. Write it as ordinary functions."),
        ("class A:\n        def __del__(self): pass", "defines __del__"),
    ],
)
def test_what_cannot_work_is_told_with_its_line_and_what_to_write_instead(body, reason):
    found = violations(f"{HEAD}    {body}\n    return 0.0, {{}}\n")
    assert any(str(one).startswith(("line 2: " + reason, "line 3: " + reason)) for one in found), found


@pytest.mark.parametrize(
    "body",
    [
        "x = getattr(info, 'get', None); setattr(reward_fn, 'last', 1.0)",
        "with np.errstate(all='ignore'): x = obs / 0.0",
        "x = np.linalg.norm(np.fft.rfft(obs)) + np.random.default_rng(0).normal()",
        "load = obs.sum(); save = load; info = {'load': load}",
        "name = type(info).__name__; print(name)",
        "x = 0.9 ** 100 * obs[0] ** 2 ** 0.5",
        "match len(obs):\n        case 1: x = 0\n        case _: x = 1",
        "try:\n        x = 1 / obs[0]\n    except Exception as error: x = str(error)",
    ],
)
def test_ordinary_code_passes(body):
    assert violations(f"{HEAD}    {body}\n    return 0.0, {{}}\n") == ()


def test_everything_is_told_at_once_in_the_order_of_the_lines():
    source = f"import os\nimport sys\n{HEAD}    x = open('x')\n    return eval('1'), {{}}\n"
    assert [found.line for found in violations(source)] == [1, 2, 4, 5]


def test_text_that_is_no_program_or_too_much_of_one_is_refused_in_words():
    for source in ("def", "x = '\0'", "(" * 5000, "x = " + "-" * 50_000 + "1", "x" * 100_000):
        with pytest.raises(InvalidReward, match=r"not valid Python|has 100,000 characters"):
            violations(source)
    (found,) = violations("x = [" + "1," * 20_000 + "]")
    assert str(found) == "has more than 20,000 parts. Write it shorter."


@given(st.text(alphabet="ab_.()[]{}=:,'\"\\\n 01#@*", max_size=80) | st.text(max_size=80))
def test_any_text_is_judged_or_refused_and_lines_are_its_own(source):
    try:
        found = violations(source)
    except InvalidReward:
        return
    assert all(one.line is None or 1 <= one.line <= source.count("\n") + 1 for one in found)
