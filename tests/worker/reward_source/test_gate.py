import importlib
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.contracts.errors import InvalidReward
from p2p.contracts.reward_rules import ALLOWED_IMPORTS
from p2p.worker.reward_source.gate import violations

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
        ("import numpy.ctypeslib", "imports 'numpy.ctypeslib', which is not for computation"),
        ("x = np.load('x')", "uses np.load, which reads from a file"),
        ("x = numpy.ctypeslib.ctypes", "uses numpy.ctypeslib, which is not for computation"),
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
        ("match reward_fn:\n        case object(__globals__=x): pass", "uses .__globals__"),
        ("async def f(): pass", "is asynchronous. Write it as ordinary functions."),
        ("class A:\n        def __del__(self): pass", "defines __del__"),
    ],
)
def test_what_cannot_work_is_told_with_its_line_and_what_to_write_instead(body, reason):
    found = violations(f"{HEAD}    {body}\n    return 0.0, {{}}\n")
    assert any(str(one).startswith(("line 2: " + reason, "line 3: " + reason)) for one in found), found


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import dataclasses; x = dataclasses.sys", "uses dataclasses.sys, which is the module sys"),
        ("import dataclasses as d; x = d.sys.modules", "uses d.sys.modules, which is the module sys"),
        (
            "import dataclasses; x = dataclasses.builtins.open",
            "uses dataclasses.builtins.open, which is the module builtins",
        ),
        ("from dataclasses import sys", "imports 'dataclasses.sys', which is the module sys"),
        ("from enum import sys as numpy", "imports 'enum.sys', which is the module sys"),
        ("from collections import _sys", "imports 'collections._sys', which is the module sys"),
        ("import typing; x = getattr(typing, 'sys')", "uses typing.sys, which is the module sys"),
        ("import typing; x = typing.get_type_hints(typing)", "uses .get_type_hints"),
        ("x = np.lib.format.open_memmap('x')", "uses np.lib.format.open_memmap, which is the module numpy.lib.format"),
        ("import numpy.lib.format", "imports 'numpy.lib.format', which is the module numpy.lib.format"),
        ("from numpy.lib import format", "imports 'numpy.lib.format', which is the module numpy.lib.format"),
        ("from numpy import lib as harmless", "imports 'numpy.lib', which is the module numpy.lib"),
        ("import numpy.matlib", "imports 'numpy.matlib', which is the module numpy.matlib"),
        ("x = np.lib", "uses np.lib, which is the module numpy.lib"),
        ("x = np.lib.stride_tricks.as_strided(obs, (9**9,))", "uses .as_strided"),
        ("from numpy.lib.stride_tricks import as_strided", "imports 'numpy.lib.stride_tricks.as_strided'"),
        ("x = np.ma.core.np", "uses np.ma.core, which is not for computation"),
        ("import numpy.lib.recfunctions as r; r.np.load('x')", "uses r.np.load, which reads from a file"),
        ("from p2p.rewards.tolerance import np as n; n.lib.format", "uses n.lib.format, which is the module"),
        ("x = np; x.lib.format", "uses the module np as a value. Use its members: np.…"),
        ("x = [np.linalg]", "uses the module numpy.linalg"),
        ("x = (lambda m: m.load('x'))(np)", "uses the module np"),
        ("x = list(map(getattr, [obs], ['tofile']))", "uses getattr as a value"),
    ],
)
def test_no_module_is_reached_through_another(body, reason):
    found = [str(one) for one in violations(f"{HEAD}    {body}\n    return 0.0, {{}}\n")]
    assert any(one.startswith(f"line 2: {reason}") for one in found), found


@pytest.mark.parametrize("allowed", [name for name in ALLOWED_IMPORTS if "." not in name])
def test_no_foreign_module_of_an_allowed_one_passes(allowed):
    """Every module that one holds, whatever it is called there: what a new Python brings as well."""
    module = importlib.import_module(allowed)
    held = {name: value for name, value in vars(module).items() if isinstance(value, ModuleType)}
    foreign = {
        name
        for name, value in held.items()
        if not any(f"{value.__name__}.".startswith(f"{one}.") for one in ALLOWED_IMPORTS)
    }
    for name in foreign:
        for body in (f"import {allowed} as m; x = m.{name}", f"from {allowed} import {name}"):
            assert violations(f"{HEAD}    {body}\n    return 0.0, {{}}\n"), body


@pytest.mark.parametrize(
    "body",
    [
        "import numpy.random as npr; x = npr.default_rng(0).normal()",
        "from numpy import linalg as la; x = la.norm(obs)",
        "from numpy.polynomial import polynomial; x = polynomial.polyval(0.5, [1, 2])",
        "x = np.polynomial.chebyshev.chebval(0.5, [1, 2]) + np.ma.masked_array(obs).mean() + np.emath.sqrt(2)",
        "x = np.lib.stride_tricks.sliding_window_view(obs, 2).mean()",
        "from collections.abc import Mapping; import collections; x = collections.deque(maxlen=3)",
        "import dataclasses; x = dataclasses.replace; y = obs.copy(); z = obs.real.format if 0 else 1",
        "import functools; x = functools.partial(np.clip, a_min=0.0, a_max=1.0)(obs)",
        "from p2p.rewards import features, tolerance; x = tolerance.tolerance(0.5, bounds=(0, 1))",
        "import p2p.rewards.tolerance; x = p2p.rewards.tolerance.tolerance(0.5)",
        "isinstance(obs, np.ndarray); x = np.float64; info.sys = 1; y = info.modules",
        "x = getattr(np, 'pi') + getattr(math, 'tau')",
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
