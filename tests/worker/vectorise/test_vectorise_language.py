import numpy as np
import pytest
from made_up_rows import function, proven, rows

from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.vectorise import NotVectorised, vectorise

BODIES = {
    "walrus": "if (y := obs[0] * 2) > 0 and (z := abs(y)) < 1:\n    x = y + z\nelse:\n    x = 0.0",
    "annotation": "x: float = float(obs[0])",
    "starred": "first, *rest = obs[:5]\nx = first + sum(rest)",
    "swap": "a, b = obs[0], obs[1]\nif a < b:\n    a, b = b, a\nx = a - 2 * b",
    "chained assignment": "x = y = obs[0]\nif y > 0:\n    x = z = y * 2",
    "for else": "for j in range(3):\n    if obs[j] > 0.3:\n        x = float(j)\n        break\nelse:\n    x = -1.0",
    "loop variable after break": "for j in range(6):\n    if obs[j] > 0.7:\n        break\nx = j + obs[j]",
    "nested loops": (
        "x = 0.0\nfor i in range(3):\n    for j in range(3):\n        if obs[i] > obs[j + 3]:\n            continue\n"
        "        x += obs[i]\n        if x > 1:\n            break\n    if x < -1:\n        break"
    ),
    "first match": "best = None\nfor o in obs:\n    if best is None or o > best:\n        best = o\nx = best",
    "append in branch": "xs = []\nfor o in obs[:2]:\n    if o > 0:\n        xs.append(o)\nx = sum(xs) + len(xs)",
    "variable of one branch": "x = 0.0\nif obs[0] > 0:\n    y = 1.0\nif obs[0] > 0:\n    y += obs[1]\n    x = y",
    "nested dict": 'g = {"a": {"w": 1.0}}\nif obs[0] > 0:\n    g["a"]["w"] = 3.0\nx = g["a"]["w"] * obs[1]',
    "dict filter": 'd = {k: v for k, v in zip("abc", obs) if v > 0}\nx = sum(d.values())',
    "default of a missing key": 'v = info.get("nope")\nif v is None:\n    v = info.get("speed", 0.0)\nx = v or 0.0',
    "whole info": 'x = sum(v for k, v in info.items() if k in ("speed", "height")) + len(info)',
    "columns of arrays": 'x = info["forces"][1:].max() + np.sum(info["forces"] ** 2)',
    "counts": 'x = info["steps"] // 2 + info["steps"] % 3 - 1 / (1 + info["steps"])',
    "truth values": 'x = info["healthy"] * 2.0 + (not info["healthy"]) + (info["healthy"] + info["_episode_start"])',
    "numpy truth values": "x = float((obs[0] > 0) + (obs[1] > 0)) - float((obs[0] > 0) & (obs[1] > 0))",
    "python truth values": "x = (float(obs[0]) > 0) + (float(obs[1]) > 0)",
    "rounding": "x = round(float(obs[0]), 1) + round(obs[1], 1) + round(obs[2])",
    "zero divided": 'try:\n    x = obs[0].item() / info["contact"]\nexcept ZeroDivisionError:\n    x = -1.0',
    "finally": "try:\n    x = obs[0]\nfinally:\n    y = 1.0\nx += y",
    "logarithm caught": "try:\n    x = math.log(obs[0])\nexcept ValueError as error:\n    x = -9.0",
    "arrays chosen": "v = obs[:3] if obs[3] > 0 else obs[3:6]\nx = v.sum()",
    "array rebound": "p = np.zeros(3)\nif obs[0] > 0:\n    p = action * 2\nx = p.sum()",
    "array slices": "c = np.zeros(4)\nc[0:2] += obs[:2]\nc[2:] = 1.0\nc[3] *= obs[4]\nx = c.sum()",
    "where": "x = np.where(obs > 0, obs, 0.0).sum() + np.where(obs[0] > 0, 1.0, -1.0)",
    "division in where": 'n = np.floor(info["height"])\nx = np.where(n > 0, 1.0 / n, 0.0)',
    "divide with out": "n = np.floor(obs)\nx = np.divide(obs, n, out=np.zeros_like(obs), where=n != 0).sum()",
    "matrix": "m = obs.reshape(2, 4)\nx = np.linalg.norm(m, axis=1).max() + m.mean(axis=0)[1] + m[1, 2]",
    "matrix products": "m = obs.reshape(2, 4)\nx = np.trace(m @ m.T) + (m.T @ action[:2]).sum() + (action[:2] @ m)[0]",
    "fancy index": "x = obs[[1, 2]].sum() + obs[np.array([4, 5])].mean() + obs[..., 3] + np.take(obs, [0, 1])[1]",
    "index by data": 'j = int(np.argmax(np.abs(action)))\nx = obs[j] + [0.1, 0.2, 0.3][j] + obs[info["steps"]]',
    "sorting": "x = sorted(action)[0] + np.sort(obs)[1] + np.median(obs) + np.percentile(obs, 30)",
    "sets of arguments": "x = max((abs(a) for a in action), default=0.0) + max(action, key=abs) + min(*action)",
    "folds": "x = reduce(lambda p, q: p + q if q > 0 else p, list(obs), 0.0)",
    "maths": "x = math.dist(obs[:2], obs[2:4]) + math.fsum(obs) + math.erf(obs[0]) + math.prod([obs[0], 2.0])",
    "select": "x = float(np.select([obs[0] > 0.1, obs[0] > -0.1], [1.0, 0.5], default=0.0))",
    "interpolation": 'x = float(np.interp(info["height"], [0.0, 0.5, 1.0], [0.0, 0.1, 1.0]))',
    "not a number": "y = np.log(obs[0])\nx = np.nan_to_num(y, nan=-1.0, neginf=0.0)\nif np.isnan(y):\n    x = 0.5",
    "types": "v = obs[0]\nif isinstance(v, (list, np.ndarray)):\n    v = v[0]\nx = v if isinstance(v, float) else 0",
    "attributes": "x = sum(action if hasattr(action, '__len__') else [action]) + obs.shape[0] * type(1.5)(2)",
    "raise not reached": "if len(obs) != 8:\n    raise ValueError('size')\nassert np.isfinite(obs).all()\nx = obs[0]",
    "imports inside": "from math import sqrt, pi\nimport numpy as onp\nx = sqrt(abs(obs[0])) * pi + onp.abs(obs[2])",
    "imports of parts": "from numpy.linalg import norm\nimport numpy.linalg as la\nx = norm(obs) + la.norm(obs[:2])",
}
HEADS = {"folds": "from functools import reduce"}


@pytest.mark.parametrize("name", BODIES)
def test_the_language_means_for_many_rows_what_it_means_for_one(name):
    assert not proven(function(BODIES[name], HEADS.get(name, ""))).hand_written


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    w: float = 2.0\n", "x = C().w * obs[0]"),
        ("from enum import Enum\nclass Mode(Enum):\n    RUN = 2.0\n", "x = Mode.RUN.value * obs[0]"),
        ("from collections import namedtuple\nT = namedtuple('T', 'a b')\nW = T(1.0, [2.0])\n", "x = W.b[0] * obs[0]"),
        ("import functools\n@functools.lru_cache\ndef f(n):\n    return n * 2.0\n", "x = f(3) * obs[0]"),
        ("def make(k):\n    return lambda v: k * v if v > 0 else 0.0\nf = make(3)\n", "x = f(obs[0])"),
        ("from math import *\n", "x = sin(obs[0]) + tau"),
        ("import numpy.typing as npt\ndef f(a: npt.NDArray[np.float64]) -> float:\n    return a[0]\n", "x = f(obs)"),
        ("def f(n, x):\n    return x if n == 0 else f(n - 1, x * 0.5 if x > 0 else x)\n", "x = f(4, obs[0])"),
        ("def f(x):\n    if x > 0:\n        return None\n    return x\n", "y = f(obs[0])\nx = 1.0 if y is None else y"),
    ],
)
def test_what_stands_around_the_function_may_be_used(head, body):
    proven(function(body, head))


def test_rows_that_do_not_take_a_branch_raise_nothing_in_it_and_warn_of_nothing():
    source = function('x = 0.0\nif info["contact"] > 0:\n    x = math.sqrt(info["contact"] - 0.5) / info["contact"]')
    proven(source)


def test_an_error_of_a_row_that_is_computed_is_an_error_of_the_call():
    vector = vectorise(LoadedReward(function("x = math.log(obs[0])")))
    obs, action, next_obs, info = rows(5)
    vector(np.abs(obs), action, next_obs, info)
    with pytest.raises(NotVectorised, match="line 5: raised ValueError: math domain error"):
        vector(-np.abs(obs), action, next_obs, info)
    vector(np.abs(obs), action, next_obs, info)


def test_a_number_that_all_rows_share_is_repeated():
    obs, action, next_obs, info = rows(4)
    totals, terms, names = vectorise(LoadedReward(function("x = 2")))(obs, action, next_obs, info)
    assert totals.tolist() == [2.0] * 4
    assert terms.tolist() == [[2.0]] * 4
    assert names == ("x",)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x = obs[obs > 0].sum()", "line 5: picks elements of an array by a measured value"),
        ('x = {0.5: 1.0}.get(info["speed"], 0.0)', "line 5: uses a measured value as a key"),
        ("x = float(str(obs[0]))", "line 5: turns a measured value into text"),
        ("q = obs[1:3]\nq *= 2.0\nx = obs[1]", "line 6: changes an array that other names show parts of"),
        ("x = np.linalg.det(obs[:4].reshape(2, 2))", "line 5: uses np.det, which has no form for many rows"),
        ("x = np.vectorize(abs)(obs).sum()", "line 5: uses a numpy function that has no form for many rows"),
        ("t = obs[0]\ndel t\nx = 0.0", "line 6: deletes something"),
        ('x = setattr(info, "a", 1)', "line 5: uses setattr, which can have hidden side effects"),
        ("x = obs[:2]", "line 6: raised TypeError"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_line(body, reason):
    with pytest.raises(NotVectorised) as refused:
        proven(function(body))
    assert str(refused.value).startswith(reason)
