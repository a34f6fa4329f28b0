"""Call a judge function on all clips of one robot: the request to the worker, and its results.

Unlike in a session, where a function that fails on one report rollout says nothing of any, every clip stands for a
policy of its own here: a crash on one is no verdict on that one alone. What no `except` can catch, such as a loop
without an end, takes the verdicts on all of them.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import JsonValue, ValidationError

from p2p.contracts.judgment import RolloutFinding
from p2p.contracts.work import CodeLimits, CodeRequest
from p2p.judges.code import Features
from p2p.store.code_calls import CodeCallRecord

EACH = "p2p_judge_each"
FOR_EACH = f"""


def {EACH}(arrays):
    said = {{}}
    for number in range(len(arrays["time"])):
        try:
            found = judge({{name: values[number].copy() for name, values in arrays.items()}})
            score = np.asarray(found["score"])
            if score.dtype.kind not in "iuf" or score.ndim > 0 or not np.isfinite(score):
                raise ValueError(f"the score is {{found['score']!r}}")
            evidence = str(found.get("evidence", ""))[:200]
            said[str(number)] = {{"score": float(min(1.0, max(0.0, score))), "evidence": evidence}}
        except Exception as error:
            said[str(number)] = {{"error": f"{{type(error).__name__}}: {{error}}"[:200]}}
    return said
"""
"""Added to a source: calls it for each clip, in its own process."""
LIMITS = CodeLimits(timeout_s=60.0, max_values=20_000, max_characters=400)


def prepare(directory: Path, source: str, features: Sequence[Features]) -> None:
    """Write into a job's directory what the worker is to call, and with what.

    Args:
        directory: Of the job.
        source: Python with `judge(features)`.
        features: Of each clip: name -> shape (T,), with the same names and the same T.
    """
    record = CodeCallRecord(directory)
    record.save_request(CodeRequest(source=f"{source}{FOR_EACH}", function=EACH, limits=LIMITS))
    record.save_arrays({name: np.stack([clip[name] for clip in features]) for name in features[0]})


def read(directory: Path, n_clips: int) -> tuple[RolloutFinding | str, ...]:
    """Read the finding for each clip, or the reason why there is none."""
    result = CodeCallRecord(directory).read_result()
    if result is None:
        return ("it was not called",) * n_clips
    if result.value is None:
        where = f"line {result.line}: " if result.line is not None else ""
        return (f"{where}{result.error}",) * n_clips
    return tuple(_finding(result.value.get(str(number))) for number in range(n_clips))


def _finding(said: JsonValue) -> RolloutFinding | str:
    if isinstance(said, dict) and "error" in said:
        return str(said["error"])
    try:
        return RolloutFinding.model_validate(said)
    except ValidationError:  # the code may have spoken past what was added to it
        return f"it returned {str(said)[:200]!r}: expected a score and evidence"
