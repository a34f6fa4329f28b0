"""Generated-code judge: values of model-written functions on rollouts, treated as measurements.

What a function says of a rollout becomes a feature of it, and its criterion gets the predicate that this feature is 1
at the end. All the rest is the judge without eyes, as it is.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from p2p.contracts.intent import Comparison, Intent, Predicate, Statistic
from p2p.contracts.judgment import FULL_SCORE, Judgment, KnownMotion, RolloutFinding
from p2p.contracts.known_motions import ClipSet
from p2p.contracts.work import CodeLimits, CodeRequest
from p2p.judges.code import CodeJudge, Features
from p2p.judges.code_fixes import with_fix
from p2p.store.arrays import load_features
from p2p.store.code_calls import CodeCallRecord
from p2p.store.evaluations import ReportRecord

ALL = "p2p_judge_all"
FOR_ALL = f"""


def {ALL}(arrays):
    rollouts = {{}}
    for name, values in arrays.items():
        number, _, feature = name.partition(".")
        rollouts.setdefault(number, {{}})[feature] = values
    return {{number: judge(features) for number, features in rollouts.items()}}
"""
"""Added to a source: calls it for each rollout, in its own process."""
LIMITS = CodeLimits(timeout_s=30.0, max_values=20_000, max_characters=2_000)
MOST_KNOWN = 12
"""Known motions that are named."""
LENGTHS = (1, 2, 40)
"""Of the made-up rollouts that a source is tried on [steps]."""

Findings = Mapping[str, Sequence[RolloutFinding]]
"""Key of a criterion -> what its function says, rollout by rollout."""


def prepare(directory: Path, source: str, features: Sequence[Features]) -> None:
    """Write the functions to call and their inputs into a job's directory."""
    record = CodeCallRecord(directory)
    record.save_request(CodeRequest(source=f"{source}{FOR_ALL}", function=ALL, limits=LIMITS))
    record.save_arrays(
        {f"{n}.{name}": values for n, rollout in enumerate(features) for name, values in rollout.items()}
    )


def prepare_report(directory: Path, source: str, report: Path) -> None:
    """Like `prepare`, with the report rollouts of an iteration; nothing if they are missing or broken."""
    features = load_features(ReportRecord(report).features_path)
    if features is not None:
        prepare(directory, source, features)


def prepare_trial(directory: Path, source: str, names: Sequence[str], known: Path | None) -> None:
    """Like `prepare`, with synthetic rollouts, and with known motions if there are any.

    Args:
        directory: Of the job.
        source: The code.
        names: Of the environment's features.
        known: File with the features of known motions; not used where the code reads what they do not have.
    """
    motions = (load_features(known) or []) if known is not None else []
    if any(name not in rollout and repr(name)[1:-1] in source for rollout in motions[:1] for name in names):
        motions = []
    generator = np.random.default_rng(0)
    tried: list[Features] = [
        {
            name: np.linspace(0.05, 0.05 * n, n)
            if name == "time"
            else np.asarray(scale * generator.normal(size=n), np.float64)
            for name in names
        }
        for n in LENGTHS
        for scale in (0.0, 1.0)
    ]
    prepare(directory, source, [*tried, *motions])


def read(directory: Path) -> tuple[RolloutFinding, ...] | str:
    """Read the values of each rollout from a job's directory, or the reason for none: a crash is no score of 0."""
    record = CodeCallRecord(directory)
    request = record.read_request()
    result = record.read_result()
    if request is None or result is None:
        return "it was not called"
    if result.value is None:
        words = with_fix(result.error)
        own_lines = request.source.removesuffix(FOR_ALL).count("\n") + 1
        return words if result.line is None or result.line > own_lines else f"line {result.line}: {words}"
    found = []
    for number in sorted(result.value, key=int):
        said = result.value[number]
        score = said.get("score") if isinstance(said, dict) else None
        if not isinstance(said, dict) or not (
            isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
        ):
            return with_fix(f"it returned {str(said)[:200]!r}: expected a dict with a number as score, and a text.")
        assert isinstance(score, int | float), "it is a number"
        evidence = said.get("evidence", "")
        found.append(RolloutFinding(score=min(1.0, max(0.0, float(score))), evidence=str(evidence)[:2000]))
    return tuple(found)


def problems_of(directory: Path) -> list[str]:
    """Problems of a source that the trial in a job's directory found."""
    found = read(directory)
    if isinstance(found, str):
        return [found]
    known = found[2 * len(LENGTHS) :]
    if len(known) > 1 and len({finding.score for finding in known}) == 1:
        same = f"It gives each of {len(known)} known motions the score {known[0].score:g}: it tells nothing apart."
        return [with_fix(same)]
    return []


def on_known_motions(directory: Path, clips: ClipSet) -> tuple[KnownMotion, ...]:
    """Known motions with the highest scores in the trial in a job's directory."""
    found = read(directory)
    if isinstance(found, str) or len(found) == 2 * len(LENGTHS):
        return ()
    known = zip(clips.clips, found[2 * len(LENGTHS) :], strict=True)
    scored = [KnownMotion(motion=clip.motion, score=said.score) for clip, said in known if said.score > 0]
    return tuple(sorted(scored, key=lambda one: -one.score)[:MOST_KNOWN])


def judge_report(intent: Intent, report: Path, pass_threshold: float, findings: Findings) -> Judgment:
    """Judge report rollouts by predicates and by the functions' values."""
    record = ReportRecord(report)
    evaluation = record.read_evaluation()
    features = load_features(record.features_path)
    if evaluation is None or features is None or not findings:
        return CodeJudge().judge_report(intent, report, pass_threshold)
    judgment = CodeJudge().judge(
        with_predicates(intent, findings), evaluation, with_findings(features, findings), pass_threshold
    )
    lines = [f"- {key}: {_worst(found).evidence}" for key, found in findings.items() if _worst(found).evidence]
    return judgment.model_copy(
        update={
            "diagnosis": "\n".join(
                [judgment.diagnosis, *(["Measured by generated code, at worst:"] if lines else []), *lines]
            ),
            "scoring_method": "code_judge+generated",
        }
    )


def with_predicates(intent: Intent, findings: Findings) -> Intent:
    """Criteria, with predicates on the functions' values."""
    criteria = []
    for criterion in intent.criteria:
        if criterion.key in findings:
            predicate = Predicate(
                statistic=Statistic.FINAL,
                feature=_feature(criterion.key),
                comparison=Comparison.AT_LEAST,
                threshold=FULL_SCORE,
                unit="1",
                margin=1.0,
            )
            criterion = criterion.model_copy(update={"predicate": predicate, "after": None})
        criteria.append(criterion)
    return intent.model_copy(update={"criteria": tuple(criteria)})


def with_findings(features: Sequence[Features], findings: Findings) -> list[Features]:
    """Features of each rollout, with the functions' values."""
    found: list[Features] = []
    for number, rollout in enumerate(features):
        length = len(next(iter(rollout.values())))
        said = {_feature(key): np.full(length, rows[number].score) for key, rows in findings.items()}
        found.append({**rollout, **said})
    return found


def _feature(key: str) -> str:
    return f"judged_{key}"


def _worst(findings: Sequence[RolloutFinding]) -> RolloutFinding:
    return min(findings, key=lambda finding: finding.score)
