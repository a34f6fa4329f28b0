"""The sessions of a run, stage by stage, and which of them may begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.suite import Case, CaseResult, Gate, Outcome, Selection, Stage, StageView, Suite, SuiteRun, Tally
from p2p.service.suites.gates import decide

ALL = Stage(name="all")
"""Stage of a suite without stages, and of a flat run."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """One case with one seed: a session of the run."""

    case: Case
    seed: int
    session_id: str


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage with its sessions."""

    stage: Stage
    sittings: tuple[Sitting, ...]
    gate: float | None
    """None where nothing depends on it."""
    left_out: bool
    """Whether the run begins with a later stage."""


def check_selection(suite: Suite, run: SuiteRun) -> None:
    """Refuse names that the suite does not know, and a selection without cases.

    Raises:
        UnknownName: of a case, category, difficulty, environment or stage.
        InvalidInput: no case is meant.
    """
    known: dict[str, list[str]] = {
        "case": [case.name for case in suite.cases],
        "category": [case.category for case in suite.cases if case.category],
        "difficulty": [case.difficulty for case in suite.cases if case.difficulty],
        "env_id": [case.env_id for case in suite.cases],
    }
    for field, names in run.only:
        for name in names:
            if name not in known[field]:
                raise UnknownName("environment" if field == "env_id" else field, name, {*known[field]})
    if run.from_stage and run.from_stage not in (names := [stage.name for stage in suite.stages]):
        raise UnknownName("stage", run.from_stage, names)
    if not any(run.only.matches(case) for case in suite.cases):
        raise InvalidInput(f"No case of {suite.name} is meant by {_in_words(run.only)}.")


def stages_of(suite: Suite, run: SuiteRun) -> tuple[PlannedStage, ...]:
    """Stages of a run that have sessions, in their order; the last has no gate, for nothing depends on it."""
    chosen = [case for case in suite.cases if run.only.matches(case)]
    stages = (ALL,) if run.flat or not suite.stages else suite.stages
    begun = not run.from_stage or run.flat
    planned = []
    for stage in stages:
        begun = begun or stage.name == run.from_stage
        cases = [case for case in chosen if stage is ALL or suite.stage_of(case) == stage]
        sittings = tuple(Sitting(case, seed, run.session_id(case.name, seed)) for case in cases for seed in run.seeds)
        if sittings:
            planned.append(PlannedStage(stage, sittings, stage.gate, left_out=not begun))
    return (*planned[:-1], *(PlannedStage(one.stage, one.sittings, None, one.left_out) for one in planned[-1:]))


def may_begin(stages: Sequence[PlannedStage], outcomes: Mapping[str, Outcome]) -> frozenset[str]:
    """Ids of all sessions of stages that are not left out and whose gates before them have passed.

    A stage that has begun runs to its end, whatever its gate says: results do not depend on who was faster.

    Args:
        stages: Of the run.
        outcomes: By session id; one that is absent is open.
    """
    ids = set[str]()
    for stage in stages:
        if stage.left_out:
            continue
        ids |= {sitting.session_id for sitting in stage.sittings}
        if _decision(stage, outcomes) not in (None, Gate.PASSED):
            break
    return frozenset(ids)


def views_of(
    stages: Sequence[PlannedStage], results: Mapping[str, CaseResult], with_exam: Sequence[str]
) -> tuple[StageView, ...]:
    """Stages as they are shown.

    Args:
        stages: Of the run.
        results: By session id, one for every session of the stages.
        with_exam: Names of the cases that have an exam.
    """
    outcomes = {session_id: result.outcome for session_id, result in results.items()}
    return tuple(
        StageView(
            name=stage.stage.name,
            gate=stage.gate,
            decision=_decision(stage, outcomes),
            tally=Tally.of([results[sitting.session_id] for sitting in stage.sittings], with_exam),
        )
        for stage in stages
    )


def _decision(stage: PlannedStage, outcomes: Mapping[str, Outcome]) -> Gate | None:
    if stage.gate is None or stage.left_out:
        return None
    told = [outcomes.get(sitting.session_id, Outcome.OPEN) for sitting in stage.sittings]
    # a stage behind a closed gate is not decided by never having begun
    return decide([Outcome.OPEN if outcome is Outcome.SKIPPED else outcome for outcome in told], stage.gate)


def _in_words(only: Selection) -> str:
    return ", ".join(f"{field} {' or '.join(names)}" for field, names in only if names) or "these filters"
