"""Runs of suites: begun, driven to their end, stopped, resumed. Their state is their sessions, and nothing else."""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

from pydantic import ValidationError

import p2p
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, JobLost, UnknownName
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, Session, SessionStatus
from p2p.contracts.suite import CaseResult, NewSuiteRun, Outcome, Suite, SuiteRun, SuiteRunView
from p2p.service.jobs.ending import end_film, end_job
from p2p.service.jobs.free_space import require_free_disk
from p2p.service.jobs.packages import require_learner
from p2p.service.jobs.processes import is_live
from p2p.service.jobs.worker_jobs import SINGLE_THREAD
from p2p.service.judging.closing import close
from p2p.service.logs.job import log_variables
from p2p.service.models.session_models import model_variables, require_models, seconds_at_work
from p2p.service.sessions.driving import (
    halt_session,
    is_driven,
    job_settings,
    make_ready,
    resume_session,
    start_session,
)
from p2p.service.sessions.lifecycle import create_session, write_session
from p2p.service.suites.exams import exam_of, exam_status, score, sit
from p2p.service.suites.plan import Sitting, check_selection, stages_of
from p2p.service.suites.results import lacks_exam, opened, read_results, unfinished, view_suite_run
from p2p.service.training.plan import run_configs
from p2p.service.wording import refused
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.clock import now
from p2p.store.suite_files import load_suite, shipped_suites
from p2p.store.suites import SuiteRunRecord, SuiteRuns
from p2p.training.tuning import of_the_world

DRIVER = ("{python}", "-m", "p2p.session.run_suite")
"""Command of the process that drives a run."""
POLL_S = 0.5
MOST_OF_A_CORE = 0.02
"""Share of a core that looking at the sessions takes at most: beside 300 of them it looks every few seconds."""
DRIVER_PATIENCE_S = 60.0
"""Of a driver that begins, with one that leaves [s]."""
MOST_DEATHS = 3
"""A session whose process is killed this often, without a word, is taken for crashed."""
PACKAGES = ("mujoco", "numpy", "gymnasium")
"""Whose versions results may depend on."""


def known_suites() -> tuple[str, ...]:
    """Names of the suites that come with p2p."""
    return shipped_suites()


def shipped_suite(name: str) -> Suite:
    """A suite that comes with p2p.

    Raises:
        UnknownName: there is none of this name.
    """
    if name not in shipped_suites():
        raise UnknownName("suite", name, shipped_suites())
    return load_suite(name)


def new_suite_run(**fields: object) -> NewSuiteRun:
    """Build a request for a run from plain values.

    Raises:
        InvalidInput: a value is out of range.
    """
    try:
        return NewSuiteRun.model_validate(fields)
    except ValidationError as error:
        raise refused(error) from error


def start_suite_run(
    ws: Workspace, source: str | Suite, asked: NewSuiteRun | None = None, *, erratum: bool = False
) -> SuiteRunView:
    """Begin a run of a suite, or go on with the one of that name; return at once.

    A run that is gone on with keeps its sessions. Its suite and what is measured stay; seeds, filters, stages,
    parallelism and backend are those of the new request.

    Args:
        ws: The workspace.
        source: Name of a shipped suite, path of a TOML or CSV file, or a suite made by a program.
        asked: What to run; None runs all of it with the built-in author.
        erratum: Whether a suite that differs in its exams alone replaces the earlier one; recorded rollouts are then
            scored again.

    Raises:
        UnknownName, InvalidInput: there is no such suite, case or stage, or the run has another suite or system; or the
            system changes the world that exams are sat in.
    """
    suite = source if isinstance(source, Suite) else load_suite(source)
    wanted = request_of(suite, asked)
    check_selection(suite, wanted)
    request = session_request(suite, wanted, stages_of(suite, wanted)[0].sittings[0])
    require_models(request)
    for config in run_configs(request, RewardDraft(source="")).values():  # else every session would crash by it
        require_learner(config.learner)
        if changed := of_the_world(config.env_kwargs):
            raise InvalidInput(
                f"All systems sit a suite's exams in the same world: env_kwargs may choose what is observed, got "
                f"{', '.join(changed)}. Leave that out."
            )
        if config.terrain is not None:
            raise InvalidInput("All systems sit a suite's exams on the same ground. Leave terrain out.")
    require_free_disk(ws)
    record = SuiteRuns(ws.runs.path).run(wanted.name)
    if (earlier := record.read_run()) is not None:
        SuiteRuns(ws.runs.path).require_kept(record)
        _require_same(record, earlier, suite, wanted, erratum=erratum)
        wanted = wanted.model_copy(update={"created_at": earlier.created_at})
    record.save_suite(suite)
    record.save_run(wanted)
    return _start_driver(ws, record)


def resume_suite_run(
    ws: Workspace, name: str, *, again: bool = False, from_stage: str = "", parallel: int | None = None
) -> SuiteRunView:
    """Go on with a run that was stopped or killed, or whose gate failed; return at once.

    Args:
        ws: The workspace.
        name: Of the run.
        again: Whether sessions that crashed or were cancelled go on too.
        from_stage: Stage to begin with, past the gates before it; empty leaves that as it was.
        parallel: Sessions side by side; None leaves that as it was.

    Raises:
        UnknownName: there is no such run or stage.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    suite, run = opened(record)
    changes = {"from_stage": from_stage or run.from_stage, "parallel": parallel or run.parallel}
    run = run.model_copy(update=changes)
    check_selection(suite, run)
    record.save_run(run)
    if again:
        for result in read_results(ws, record, suite, stages_of(suite, run)).values():
            if result.outcome in (Outcome.NOT_TRAINED, Outcome.CRASHED, Outcome.CANCELLED):
                make_ready(ws, ws.record(result.session_id))
    return _start_driver(ws, record)


def stop_suite_run(ws: Workspace, name: str) -> SuiteRunView:
    """Stop a run and the trainings of its sessions, which are interrupted and not cancelled; it can be gone on with.

    Raises:
        UnknownName: there is no such run.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    end_job(ws, record.driver_dir)  # first, for it starts the others
    suite, run = opened(record)
    for stage in stages_of(suite, run):
        for sitting in stage.sittings:
            session = ws.runs.session(sitting.session_id)
            status = session.read_status() if session.exists else None
            if status is not None and not status.status.finished:
                halt_session(ws, session)
            end_film(ws, session)
            end_job(ws, record.exam_dir(sitting.session_id))
    return view_suite_run(ws, name)


def drive_suite_run(ws: Workspace, name: str) -> SuiteRunView:
    """Drive a run to its end, in its own process; called again, it goes on where the sessions are.

    Raises:
        UnknownName: there is no such run.
        P2PError: what no session is to blame for, such as a full disk, a missing package or a refused key.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    with record.exclusive(DRIVER_PATIENCE_S):
        driving = _Driving(ws, record)
        while True:
            begun_s = time.process_time()
            if not driving.advance():
                break
            time.sleep(max(POLL_S, (time.process_time() - begun_s) / MOST_OF_A_CORE))
    return view_suite_run(ws, name)


def request_of(suite: Suite, asked: NewSuiteRun | None = None) -> SuiteRun:
    """Complete request for a run of a suite.

    Raises:
        InvalidInput: the name or a seed cannot be one.
    """
    asked = asked or NewSuiteRun()
    told = asked.model_dump() | {
        "name": asked.name or default_name(suite, asked.system),
        "seeds": asked.seeds or suite.seeds,
        "suite": suite.name,
        "version": suite.version,
        "digest": suite.digest,
        "created_at": now(),
        "versions": versions(),
    }
    try:
        return SuiteRun.model_validate(told)
    except ValidationError as error:
        raise refused(error) from error


def default_name(suite: Suite, system: NewSession) -> str:
    """Name of a run that was given none: the suite's, with the model that writes."""
    model = system.model.partition(":")[2]
    text = f"{suite.name}-{model}" if model else suite.name
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:20].strip("-")


def session_request(suite: Suite, run: SuiteRun, sitting: Sitting) -> NewSession:
    """What a session of a run is asked for: the system with the case's sentence, the suite's budget as its caps."""
    budget = suite.budget
    caps = {
        name: value
        for name in ("dollars", "minutes", "environment_steps")
        if (value := getattr(budget, name)) is not None
    }
    steps = {} if budget.total_timesteps is None else {"total_timesteps": budget.total_timesteps}
    changes: dict[str, object] = {
        "prompt": sitting.case.prompt,
        "env_id": sitting.case.env_id,
        "seed": sitting.seed,
        "pass_threshold": suite.pass_threshold,
        "config": run.system.config | steps,
        "caps": run.system.caps.model_copy(update=caps),
    }
    if budget.max_iterations is not None:
        changes["max_iterations"] = budget.max_iterations
    return run.system.model_copy(update=changes)


def _require_same(record: SuiteRunRecord, earlier: SuiteRun, suite: Suite, wanted: SuiteRun, *, erratum: bool) -> None:
    """Refuse another suite or another system under the name of a run."""
    known = record.read_suite()
    if known is None:
        raise InvalidInput(f"{record.path} holds no readable suite.")
    if earlier.digest != wanted.digest:
        if known.without_exams != suite.without_exams:
            raise InvalidInput(
                f"The run {earlier.name} is of another {earlier.suite} (version {earlier.version}, "
                f"{earlier.digest[:12]}; this is {wanted.digest[:12]}). Choose another name for the new run."
            )
        if not erratum:
            raise InvalidInput(
                f"The exams of {earlier.suite} have changed since the run {earlier.name} began. To score its recorded "
                "rollouts again, say that it is an erratum; or choose another name for a new run."
            )
    if earlier.system != wanted.system.model_copy(update={"log": earlier.system.log}):  # which changes no result
        raise InvalidInput(
            f"The run {earlier.name} measures another system: {_difference(earlier.system, wanted.system)}. "
            "Choose another name for the new run."
        )


def _difference(before: NewSession, after: NewSession) -> str:
    old, new = before.model_dump(), after.model_dump()
    return ", ".join(f"{name} is {old[name]!r}, not {new[name]!r}" for name in old if old[name] != new[name])


def versions() -> dict[str, str]:
    """Versions of p2p, Python and the packages that results may depend on."""
    found = {"p2p": p2p.__version__, "python": ".".join(map(str, sys.version_info[:3]))}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _start_driver(ws: Workspace, record: SuiteRunRecord) -> SuiteRunView:
    _, run = opened(record)
    backend = run.backend or ws.settings.backend
    spec = JobSpec(
        argv=(*DRIVER, "--run", run.name, "--runs-dir", str(ws.runs.path)),
        env=SINGLE_THREAD | job_settings(ws) | {"P2P_BACKEND": backend},
        secrets=(*ws.variables_to_reach(backend), *model_variables(run.system), *log_variables(run.system)),
    )
    if not is_live(ws, record.driver_dir):
        files.discard_all(record.driver_dir)  # a job that has completed is not started again
    ws.background.submit(spec, record.driver_dir)
    return view_suite_run(ws, run.name)


class _Driving:
    """Driver of one run: what it does next follows from how the sessions stand."""

    def __init__(self, ws: Workspace, record: SuiteRunRecord) -> None:
        self._ws = ws
        self._record = record
        self._begun_at = now()
        self._deaths: Counter[str] = Counter()

    def advance(self) -> bool:
        """Do what can be done now; False once nothing is left to do.

        Raises:
            P2PError: what no session is to blame for.
        """
        suite, run = opened(self._record)
        sittings = {one.session_id: one for stage in stages_of(suite, run) for one in stage.sittings}
        results = read_results(self._ws, self._record, suite, stages_of(suite, run))
        if tuple(results.values()) != self._record.read_results():
            self._record.save_results(tuple(results.values()))
        if not unfinished(suite, results.values()):
            return False
        self._stop_without_key(results.values())
        self._examine(suite, run, [(sittings[name], result) for name, result in results.items()])
        waiting = [sittings[name] for name, result in results.items() if result.outcome is Outcome.OPEN]
        begun = [sitting for sitting in waiting if results[sitting.session_id].status]
        for sitting in begun:
            self._tend(sitting.session_id)
        free = max(0, run.parallel - len(begun))
        for sitting in [sitting for sitting in waiting if sitting not in begun][:free]:
            self._begin(session_request(suite, run, sitting), run.name, sitting.session_id)
        return True

    def _begin(self, request: NewSession, run: str, session_id: str) -> None:
        """Create and start a session; one whose request is refused, such as for its sentence, ends by that error."""
        try:
            create_session(self._ws, request, session_id=session_id)
        except InvalidInput as error:
            told = request.model_dump() | {"session_id": session_id, "created_at": now()}
            session = Session.model_validate(told | {"backend": self._ws.settings.backend})
            write_session(self._ws, self._ws.runs.session(session_id), session, None, None)
            close(self._ws, session_id, SessionStatus.ERROR, str(error))
            return
        self._ws.record(session_id).update_metadata(tags=(run,))
        start_session(self._ws, session_id)

    def _tend(self, session_id: str) -> None:
        """Have a session that has begun go on, or end where it is at its cap of minutes or dies again and again."""
        record = self._ws.record(session_id)
        minutes = record.read_session().caps.minutes
        if is_driven(self._ws, record):
            if minutes is not None and seconds_at_work(record.events.read(), now()) >= 60 * minutes:
                halt_session(self._ws, record)
                close(self._ws, session_id, SessionStatus.BUDGET, f"The cap of {minutes:g} minutes at work is reached.")
            return
        status = record.read_status()
        if status is not None and status.status.finished:
            return
        if status is None or status.status is SessionStatus.PENDING:
            start_session(self._ws, session_id)
            return
        self._deaths[session_id] += 1
        if self._deaths[session_id] > MOST_DEATHS:
            close(self._ws, session_id, SessionStatus.ERROR, f"Its process was killed {MOST_DEATHS + 1} times.")
        else:
            resume_session(self._ws, session_id)

    def _examine(self, suite: Suite, run: SuiteRun, results: Sequence[tuple[Sitting, CaseResult]]) -> None:
        """Have policies sit their exams, as many at a time as there are sessions side by side."""
        live = 0
        for sitting, result in results:
            exam = exam_of(self._ws, suite, self._record, sitting) if lacks_exam(suite, result) else None
            if exam is None:
                continue
            status = exam_status(self._ws, exam)
            if status is not None and not status.state.finished:
                live += 1
            elif live < run.parallel and score(self._ws, exam, suite.pass_threshold) is None:
                live += 1
                self._deaths[str(exam.directory)] += 1
                if self._deaths[str(exam.directory)] > MOST_DEATHS:
                    raise JobLost(f"The exam in {exam.directory} was killed {MOST_DEATHS} times: see its output.log.")
                sit(self._ws, exam)

    def _stop_without_key(self, results: Iterable[CaseResult]) -> None:
        """Begin no further session with a key that was refused to the last.

        Raises:
            EnvironmentProblem: one was.
        """
        for result in results:
            if result.status == SessionStatus.AUTH_ERROR and result.ended_at > self._begun_at:
                raise EnvironmentProblem(f"{result.session_id}: {result.error}")
