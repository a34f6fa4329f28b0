"""Entries: a run written for others, and the entry of somebody simulated again, without training."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.session import NewSession
from p2p.contracts.suite import Case, CaseResult, ExamResult, Suite, SuiteRun, digest_of
from p2p.contracts.suite_entry import Entry, EntryProblem, EntryReport, ExportedEntry
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import EvaluateRequest
from p2p.redaction import for_others
from p2p.scheduler.resources import parallel_jobs
from p2p.service.jobs.worker_jobs import cancelled_by_ctrl_c, wait, worker_job
from p2p.service.suites.exams import Exam, exam_of, score
from p2p.service.suites.plan import Sitting, stages_of
from p2p.service.suites.results import opened, unfinished, view_suite_run
from p2p.service.suites.running import versions
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.evaluations import ReportRecord
from p2p.store.iterations import IterationRecord, save_inputs
from p2p.store.suite_entries import EntryRecord, copy_file
from p2p.store.suite_files import load_suite, shipped_suites
from p2p.store.suites import SuiteRuns
from p2p.training.tuning import of_the_world

TOLD = (
    "author",
    "model",
    "light_model",
    "judge_model",
    "judge_author",
    "candidates",
    "n_seeds",
    "n_configs",
    "max_iterations",
    "config",
    "stop_when_clear",
)
"""What an entry says of the system; prices, caps and machines are its owner's."""
SCRATCH = ".verify-"
NO_REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """Pays nothing: an exam measures features alone.

    Terms:
        nothing: 0
    """
    return 0.0, {"nothing": 0.0}
'''
"""Stands in for the rewards of an entry, which are not run: nothing of an exam depends on them."""


def export_entry(ws: Workspace, name: str, directory: Path | None = None) -> ExportedEntry:
    """Write a run for others: results, and the policy and reward of every session that sat an exam.

    Args:
        ws: The workspace.
        name: Of the run.
        directory: Empty or absent; None takes `entry/` in the run's directory, in place of what was there.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: it has not ended, or the directory is not empty.
        StorageProblem: a file cannot be read or written.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    suite, run = opened(record)
    view = view_suite_run(ws, name)
    if unfinished(suite, view.results):
        raise InvalidInput(f"{name} has not ended: an entry holds all of its sessions.")
    if directory is None:
        directory = record.entry_dir
        files.discard_all(directory)
    elif directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InvalidInput(f"{directory} is not an empty directory. Give another one.")
    entry = EntryRecord(directory)
    sittings = {one.session_id: one for stage in stages_of(suite, run) for one in stage.sittings}
    written: dict[str, str] = {}
    observed: dict[str, dict[str, bool]] = {}
    for result in view.results:
        if result.exam is None or not result.exam.n_rollouts:
            continue
        exam = exam_of(ws, suite, record, sittings[result.session_id])
        assert exam is not None, "it has been sat"
        trained = IterationRecord(exam.policy.parents[2])
        if (config := trained.read_config()) is not None and config.env_kwargs:
            observed[result.session_id] = {option: bool(value) for option, value in config.env_kwargs.items()}
        for source, target in (
            (exam.policy, entry.policy(result.session_id)),
            (trained.reward_fn_path, entry.reward(result.session_id)),
        ):
            copy_file(source, target)
            written[entry.name_of(target)] = files.sha256(target) or ""
    made = Entry(
        suite=suite,
        run=_public(run),
        results=tuple(result.model_copy(update={"error": for_others(result.error)}) for result in view.results),
        env_kwargs=observed,
        files=written,
    )
    entry.save_entry(made)
    return ExportedEntry(
        directory=str(directory), sessions=len(made.results), policies=sum(path.endswith(".npz") for path in written)
    )


def _public(run: SuiteRun) -> SuiteRun:
    system = NewSession.model_validate({field: getattr(run.system, field) for field in TOLD})
    return run.model_copy(update={"system": system, "backend": ""})


@dataclass(frozen=True, slots=True)
class _Retake:
    """One exam that is sat again."""

    case: Case
    result: CaseResult
    exam: Exam

    @property
    def name(self) -> str:
        return f"{self.result.case} seed {self.result.seed}"


def verify_entry(
    ws: Workspace, directory: Path, suite: str = "", tick: Callable[[str], None] = lambda _: None
) -> EntryReport:
    """Simulate the policies of an entry again, each in a confined job, and name what differs.

    Of an entry only numbers and policies are used, as plain arrays: none of its code is run. What a session says of
    itself, its time and its costs cannot be simulated again, and are not verified.

    Args:
        ws: Where the jobs run.
        directory: Of the entry.
        suite: Name or file of the suite that it must be of; empty takes the one that comes with p2p, if there is one.
        tick: Told the name of each session that has been simulated.

    Raises:
        InvalidInput: it holds no entry.
        UnknownName: there is no such suite.
    """
    record = EntryRecord(directory)
    entry = record.read_entry()
    if entry is None:
        raise InvalidInput(f"{directory} holds no readable entry: expected its results.json.")
    known = _known_suite(entry, suite)
    problems = [*_of_suite(entry, known), *_of_results(entry), *_of_files(record, entry)]
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=_room(ws), ignore_cleanup_errors=True) as scratch:
        retakes = list(_prepare(ws, record, entry, Path(scratch), problems))
        _simulate(ws, [retake.exam.directory for retake in retakes])
        same = passed = 0
        for retake in retakes:
            found = score(ws, retake.exam, entry.suite.pass_threshold)
            differences = _differences(retake, found)
            problems += differences
            same += not differences
            passed += found is not None and found.passed
            tick(retake.name)
    return EntryReport(
        run=entry.run.name,
        suite=entry.suite.name,
        version=entry.suite.version,
        digest=entry.suite.digest,
        known_suite=known is not None,
        sessions=len(entry.results),
        simulated=len(retakes),
        same=same,
        exams_passed=passed,
        problems=tuple(problems),
        notes=tuple(_notes(entry, known)),
    )


def _room(ws: Workspace) -> Path:
    """Directory for the jobs, without what killed verifications left."""
    room = SuiteRuns(ws.runs.path).path
    files.make_directory(room)
    files.sweep(room, f"{SCRATCH}*")
    return room


def _known_suite(entry: Entry, named: str) -> Suite | None:
    """The suite that an entry must be of, from elsewhere than the entry; None where nobody knows it."""
    if named:
        return load_suite(named)
    return load_suite(entry.suite.name) if entry.suite.name in shipped_suites() else None


def _of_suite(entry: Entry, known: Suite | None) -> Iterator[EntryProblem]:
    """What is wrong with the suite and the exams."""
    if entry.suite.digest != entry.run.digest:
        yield EntryProblem(where="", what="the suite or an exam was changed after the run: its digest differs")
    if known is None or known.digest == entry.suite.digest:
        return
    named = False
    for case in entry.suite.cases:
        other = known.case(case.name)
        if other != case:
            named = True
            what = "the exam" if other is not None and other.exam != case.exam else "the case"
            yield EntryProblem(where=case.name, what=f"{what} is not that of {known.name} version {known.version}")
    if not named:
        what = f"it is not of {known.name} version {known.version} ({known.digest[:12]})"
        yield EntryProblem(where="", what=what)


def _of_results(entry: Entry) -> Iterator[EntryProblem]:
    """What is wrong with the results as such: sessions that lack, or are none of the run's."""
    expected = {(one.case.name, one.seed) for stage in stages_of(entry.suite, entry.run) for one in stage.sittings}
    found = [(result.case, result.seed) for result in entry.results]
    for case, seed in sorted(expected - set(found)):
        yield EntryProblem(where=f"{case} seed {seed}", what="there is no result of it, and all cases count")
    for case, seed in sorted({one for one in found if one not in expected or found.count(one) > 1}):
        yield EntryProblem(where=f"{case} seed {seed}", what="its result is there twice, or is none of this run")
    for result in entry.results:
        if result.exam is None or (exam := entry.suite.exam_of(result.case)) is None:
            continue
        if result.exam.passed and not result.exam.n_rollouts:
            yield EntryProblem(where=f"{result.case} seed {result.seed}", what="it passed an exam without a rollout")
        if result.exam.exam_sha256 != digest_of(exam):
            yield EntryProblem(
                where=f"{result.case} seed {result.seed}", what="it was scored by another exam than the suite's"
            )


def _of_files(record: EntryRecord, entry: Entry) -> Iterator[EntryProblem]:
    """Files that lack or were changed."""
    for name, digest in sorted(entry.files.items()):
        if (found := record.sha256(name)) != digest:
            yield EntryProblem(where=name, what="the file is missing" if found is None else "the file was changed")


def _prepare(
    ws: Workspace, record: EntryRecord, entry: Entry, scratch: Path, problems: list[EntryProblem]
) -> Iterator[_Retake]:
    """Lay out a job for every exam that can be sat again; what cannot becomes a problem."""
    for number, result in enumerate(entry.results):
        case = entry.suite.case(result.case)
        if case is None or case.exam is None or result.exam is None or not result.exam.n_rollouts:
            continue
        name = f"{result.case} seed {result.seed}"
        try:
            exam = _lay_out(ws, record, entry, (case, result), scratch / str(number))
        except P2PError as error:
            problems.append(EntryProblem(where=name, what=f"it cannot be simulated: {for_others(str(error))}"))
            continue
        yield _Retake(case, result, exam)


def _lay_out(ws: Workspace, record: EntryRecord, entry: Entry, of: tuple[Case, CaseResult], directory: Path) -> Exam:
    case, result = of
    assert case.exam is not None, "it is asked for cases with an exam"
    spec = describe_environment(ws, case.env_id)
    observed = entry.env_kwargs.get(result.session_id, {})
    if changed := of_the_world(observed):
        raise InvalidInput(f"it was sat in another world than the suite's: {', '.join(changed)}")
    run = IterationRecord(directory / "policy_seed_0")
    save_inputs(run, NO_REWARD, spec, TrainConfig(env_id=case.env_id, env_kwargs=observed))
    policy = run.checkpoint(0).policy_path
    copy_file(record.policy(result.session_id), policy)
    seeds = entry.suite.exam_seeds(result.case, result.seed)
    request = EvaluateRequest(
        run_dir=f"../{run.iteration_id}",
        run_id=run.iteration_id,
        checkpoint=0,
        n_rollouts=len(seeds),
        exam_seed=seeds.start,
    )
    job = IterationRecord(directory / "exam")
    job.save_env_spec(spec)
    job.save_criteria(case.exam)
    ReportRecord(job.path).save_request(request)
    return Exam(Sitting(case, result.seed, result.session_id), case.exam, job.path, request, policy)


def _simulate(ws: Workspace, directories: Sequence[Path]) -> None:
    """Run the jobs, as many at a time as there are cores."""
    at_once = ws.settings.max_parallel or parallel_jobs()
    for start in range(0, len(directories), at_once):
        wave = directories[start : start + at_once]
        for directory in wave:
            ws.backend.submit(worker_job("evaluate"), directory)
        with cancelled_by_ctrl_c(ws.backend, wave[0]):
            wait(wave, ws.backend)


def _differences(retake: _Retake, found: ExamResult | None) -> list[EntryProblem]:
    """What an exam that was sat again says otherwise than the entry."""
    claimed = retake.result.exam
    assert claimed is not None, "it is sat again"
    if found is None:
        return [EntryProblem(where=retake.name, what="its rollouts were killed before their end")]
    differences = []
    if claimed.policy_sha256 != found.policy_sha256:
        differences.append("the policy is not the one that sat the exam")
    for field in ("passed", "n_rollouts", "n_met", "low", "high", "intent_score", "problem"):
        before, after = getattr(claimed, field), getattr(found, field)
        if before != after:
            differences.append(f"{field} is {before!r} in the entry, and {after!r} when it is simulated again")
    if claimed.seeds != found.seeds:
        differences.append("the seeds are not those of the suite")
    differences += _criteria(claimed.criteria, found.criteria)
    if claimed.features_sha256 != found.features_sha256:
        differences.append("the rollouts are not the same to the bit")
    return [EntryProblem(where=retake.name, what=what) for what in differences]


def _criteria(claimed: Sequence[CriterionScore], found: Sequence[CriterionScore]) -> Iterator[str]:
    if [one.key for one in claimed] != [one.key for one in found]:
        yield "the criteria are not those of the exam"
        return
    for before, after in zip(claimed, found, strict=True):
        for field in CriterionScore.model_fields:
            if getattr(before, field) != getattr(after, field):
                yield (
                    f"criterion {before.key}: {field} is {getattr(before, field)!r} in the entry, and "
                    f"{getattr(after, field)!r} when it is simulated again"
                )


def _notes(entry: Entry, known: Suite | None) -> Iterator[str]:
    if known is None:
        yield (
            f"The suite {entry.suite.name} does not come with p2p: the entry itself says what its exams are. Compare "
            f"its digest with a published one, or name the file of the suite: {entry.suite.digest}"
        )
    if any(values for _, values in entry.run.only):
        yield "The run has some cases of the suite, not all."
    here = versions()
    for package in ("mujoco", "numpy", "gymnasium"):
        there = entry.run.versions.get(package)
        if there is not None and there != here.get(package):
            yield f"It was run with {package} {there}, and is simulated with {here.get(package)}: bits may differ."
