import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hostile_code import ATTEMPTS, LOAD

from p2p.contracts.errors import CodeFailed, InvalidInput
from p2p.contracts.work import CodeLimits, CodeRequest
from p2p.store.code_calls import CodeCallRecord
from p2p.worker.call import call
from p2p.worker.code_host.run_code import run_code, violations

MEAN = """
import numpy as np

def measure(arrays):
    x = arrays["x"]
    x[:] += 1.0
    return {"mean": x.mean(), "shape": x.shape, "steps": len(x), "good": bool(x.all()), "note": "ok", "none": None}
"""
SHORT = CodeLimits(timeout_s=1.0)


def function(body, head=""):
    return f"{head}\ndef measure(arrays):\n    {body}\n"


def test_a_function_gets_copies_of_arrays_and_gives_plain_values():
    x = np.arange(4.0)
    value = run_code(MEAN, "measure", {"x": x, "flags": np.array([True])})
    assert value == {"mean": 2.5, "shape": [4], "steps": 4, "good": True, "note": "ok", "none": None}
    assert x.tolist() == [0, 1, 2, 3]


def test_code_that_leaves_the_gate_behind_can_still_do_nothing(tmp_path, monkeypatch):
    secret = tmp_path / "key"
    secret.write_text("canary-in-a-file")
    monkeypatch.setenv("SOME_API_KEY", "canary-in-the-environment")
    body = (
        "return {'done': [name for name, attempt in attempts().items() if succeeded(attempt)], "
        "'keys': [name for name in load('os').environ if 'KEY' in name]}"
    )
    source = function(body, LOAD + ATTEMPTS.replace("PATH", repr(str(secret))))
    assert violations(source) == ()
    assert run_code(source, "measure", {"x": np.zeros(3)}) == {"done": [], "keys": []}
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1.0", "returned a float; expected a dict"),
        ("return {'x': float('nan')}", r"the result\['x'\] is nan; expected a finite number"),
        ("return {'x': object}", "is a type; expected"),
        ("return {1: 2.0}", "has a int as a key"),
        ("return {'x': 'a' * 3000}", "3000 characters, of 2000 at most"),
        ("return {'x': np.zeros(5000)}", "more than 1000 values"),
        ("return {'x': [[[[[1]]]]]}", "deeper than 4"),
        ("return {'x': 10 ** 300}", "a whole number that is too large"),
        ("return {'x': arrays['y']}", "line 3: the function raised KeyError: 'y'"),
        ("raise SystemExit(0)", "line 3: the function raised SystemExit"),
        ("raise KeyboardInterrupt", "line 3: the function raised KeyboardInterrupt"),
        ("return {'x': sum(len(str(i)) for i in iter(int, 1))}", r"line 3: the function gave no answer within 1 s"),
        ("load('os')._exit(0)", "ended its process without an answer, with exit code 0"),
        ("load('ctypes').string_at(0)", "ended its process without an answer, by SIGSEGV"),
        ("x = np.ones((1 << 30, 8)); return {}", "the function raised (_Array)?MemoryError"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_how(body, message):
    limits = SHORT if "iter(int" in body else None
    with pytest.raises(CodeFailed, match=message):
        run_code(function(body, LOAD if "load(" in body else ""), "measure", {}, limits)


def test_all_that_the_gate_finds_is_told_at_once():
    source = "import os\n\ndef measure(arrays):\n    open('x')\n    return {}\n"
    with pytest.raises(CodeFailed, match=r"line 1: imports 'os'.* line 4: uses open\. No files"):
        run_code(source, "measure", {})


def test_a_function_that_is_not_there_and_arrays_without_numbers_are_named():
    with pytest.raises(CodeFailed, match="no function 'judge' in the source"):
        run_code(MEAN, "judge", {})
    with pytest.raises(CodeFailed, match="the array 'names' holds no numbers"):
        run_code(MEAN, "measure", {"names": np.array(["a"])})


@pytest.fixture
def record(tmp_path):
    record = CodeCallRecord(tmp_path / "call")
    record.path.mkdir()
    record.save_arrays({"x": np.arange(4.0)})
    return record


def test_the_verb_writes_what_came_of_it(record):
    record.save_request(CodeRequest(source=MEAN, function="measure"))
    command = [sys.executable, "-m", "p2p.worker", "call", str(record.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert record.read_result().value["mean"] == 2.5


def test_the_verb_writes_what_went_wrong_too(record):
    record.save_request(CodeRequest(source=function("return {'x': 1 / 0}"), function="measure"))
    call(record.path)
    result = record.read_result()
    assert (result.value, result.line) == (None, 3)
    assert result.error.startswith("the function raised ZeroDivisionError")


def test_a_call_without_a_request_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no readable request"):
        call(Path(tmp_path))
