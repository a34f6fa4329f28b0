"""The page of a run: one HTML file with every case, its video, its numbers and why sessions did not pass."""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from getpass import getuser
from pathlib import Path
from socket import gethostname

from p2p.analysis.failure_causes import failure_cause
from p2p.analysis.suite_comparison import ReadRun, estimate_of, groups_of, main_metric, metrics_of, run_estimate, values
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import needed, number, score_in_words
from p2p.contracts.judgment import CriterionScore, Judgment
from p2p.contracts.suite import Case, CaseResult, Outcome, Suite, SuiteRunView
from p2p.contracts.suite_comparison import SHARES, Estimate, Metric
from p2p.contracts.suite_page import Cause, FailureCause
from p2p.redaction import redact_text
from p2p.service.suites.comparing import TITLES
from p2p.service.suites.exams import best_judgment
from p2p.service.suites.results import opened, view_suite_run
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord
from p2p.store.suites import SuiteRuns
from p2p.store.untrusted_files import is_readable, read_bytes

PATH = re.compile(r"(?<![\w.:/])(?:~|[A-Za-z]:)?[\\/](?:[^\s\\/:'\"<>|,;()]+[\\/])+([^\s\\/:'\"<>|,;()]*)")
"""An absolute path; its last part is kept."""
SHORTEST_NAME = 3
ORDINARY = ("root", "user", "admin", "ubuntu", "localhost")
"""Names that say nothing of anybody."""
LABEL = "median"
"""Which of a report's rollouts is shown: never the best."""


class Videos(StrEnum):
    """Where the page has its videos."""

    INSIDE = "inside"
    """In the file itself."""
    BESIDE = "beside"
    """In a folder beside it: for suites of many cases."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with its interval, also as places on a bar from 0 to 100."""

    title: str
    text: str
    interval: str
    n_cases: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    main: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """One category, difficulty or environment."""

    kind: str
    name: str
    exam: Bar
    itself: Bar


@dataclass(frozen=True, slots=True)
class CriterionLine:
    """One criterion of an exam or a session, as measured."""

    title: str
    needed: str
    measured: str
    met_share: str
    met: bool
    required: bool


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session of a case."""

    seed: int
    outcome: str
    passed: bool
    """What decides: the exam where the case has one."""
    itself: str
    exam: str
    exam_interval: str
    score: str
    cause: str
    detail: str
    iterations: int
    steps: str
    time: str
    dollars: str
    criteria: tuple[CriterionLine, ...]


@dataclass(frozen=True, slots=True)
class CaseCard:
    """One case."""

    case: Case
    exam: tuple[str, ...]
    """What its exam asks for, in words."""
    sessions: tuple[SessionLine, ...]
    passed: int
    ended: int
    video: str
    """Source of the video: data, or a file beside the page; empty without one."""
    poster: str
    video_note: str


def write_page(ws: Workspace, name: str, output: Path | None = None, videos: Videos = Videos.INSIDE) -> Path:
    """Write the page of a run.

    Args:
        ws: The workspace.
        name: Of the run.
        output: File to write; None takes `page.html` in the run's directory.
        videos: Where the videos go; one for each case, of the median rollout of its first session that has one.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: no session has ended yet, or the file cannot be one.
        StorageProblem: it cannot be written.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    target = output or record.path / "page.html"
    if target.is_dir() or target.suffix != ".html":
        raise InvalidInput(f"{target} cannot be the page: expected a file whose name ends with .html.")
    suite, run = opened(record)
    view = view_suite_run(ws, name)
    read = ReadRun(run, suite, view.results)
    if not read.ended:
        raise InvalidInput(f"No session of {name} has ended yet: there is nothing to show.")
    judgments = {result.session_id: _judgment(ws, result) for result in view.results}
    causes = {
        result.session_id: failure_cause(result, judgments[result.session_id], has_exam=_has_exam(suite, result))
        for result in view.results
    }
    beside = target.parent / f"{target.stem}_videos"
    cards = [_card(ws, case, view.results, causes, judgments, (videos, beside)) for case in _cases(suite, view)]
    files.write_text(target, _render(read, view, cards, causes))
    return target


def _cases(suite: Suite, view: SuiteRunView) -> list[Case]:
    run = {result.case for result in view.results}
    return [case for case in suite.cases if case.name in run]


def _has_exam(suite: Suite, result: CaseResult) -> bool:
    case = suite.case(result.case)
    return case is not None and case.exam is not None


def _judgment(ws: Workspace, result: CaseResult) -> Judgment | None:
    session = ws.runs.session(result.session_id)
    judged = best_judgment(session) if session.exists else None
    return judged[1] if judged is not None else None


def _render(
    read: ReadRun, view: SuiteRunView, cards: Sequence[CaseCard], causes: dict[str, FailureCause | None]
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - the service starts without

    templates = Environment(
        loader=PackageLoader("p2p.service.suites", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    main = main_metric(read.suite)
    counts = Counter(cause.cause for cause in causes.values() if cause is not None)
    system = read.run.system
    measured = {
        "author": system.model or system.author,
        "judge": system.judge_model or "measured criteria",
        "trainings of an iteration": f"{system.n_seeds} x {system.n_configs}",
        "most iterations": str(read.suite.budget.max_iterations or system.max_iterations),
        "seeds": ", ".join(map(str, read.run.seeds)),
    }
    return templates.get_template("page.html.j2").render(
        run=read.run,
        suite=read.suite,
        view=view,
        measured={key: clean(str(value)) for key, value in measured.items()},
        versions=read.run.versions,
        bars=[_bar(metric, read, main) for metric in metrics_of([read])],
        groups=_groups(read, main),
        causes=[(cause.value, counts[cause], _where(causes, cause)) for cause in Cause if counts[cause]],
        cards=cards,
        with_exam=main is Metric.EXAM,
        stages=[stage for stage in view.stages if len(view.stages) > 1 or stage.gate is not None],
        total_time=_duration(sum(result.seconds for result in view.results)),
        total_dollars=sum(view.dollars.values()),
    )


def _where(causes: dict[str, FailureCause | None], cause: Cause) -> list[tuple[str, int]]:
    """What exactly the sessions of one cause missed, the most frequent first."""
    details = Counter(clean(one.detail) for one in causes.values() if one is not None and one.cause is cause)
    return [(detail, count) for detail, count in details.most_common() if detail]


def _bar(metric: Metric, read: ReadRun, main: Metric) -> Bar:
    return _as_bar(TITLES[metric], metric, run_estimate(metric, read), main=metric is main)


def _as_bar(title: str, metric: Metric, found: Estimate, *, main: bool = False) -> Bar:
    share = metric in SHARES
    if found.mean is None:
        return Bar(title, "–", "", 0)

    def words(value: float) -> str:
        if share or metric is Metric.FLATTERY:
            return f"{100 * value:.0f} %"
        return number(value) if metric is not Metric.DOLLARS else f"${value:.2f}"

    interval = "" if found.low is None or found.high is None else f"{words(found.low)} to {words(found.high)}"
    mean, low, high = (
        100 * value if share and value is not None else None for value in (found.mean, found.low, found.high)
    )
    return Bar(title, words(found.mean), interval, found.n_cases, mean, low, high, main)


def _groups(read: ReadRun, main: Metric) -> list[Group]:
    groups = []
    for kind, names in groups_of(read.suite).items():
        for name in dict.fromkeys(names.values()):
            parts = [
                {case: found for case, found in values(metric, read).items() if names.get(case) == name}
                for metric in (main, Metric.ITSELF)
            ]
            if parts[1] and len(set(names.values())) > 1:
                bars = [
                    _as_bar(name, metric, estimate_of(metric, part))
                    for metric, part in zip((main, Metric.ITSELF), parts, strict=True)
                ]
                groups.append(Group(kind, name, *bars))
    return groups


def _card(
    ws: Workspace,
    case: Case,
    results: Sequence[CaseResult],
    causes: dict[str, FailureCause | None],
    judgments: dict[str, Judgment | None],
    place: tuple[Videos, Path],
) -> CaseCard:
    own = [result for result in results if result.case == case.name]
    lines = tuple(_line(result, causes[result.session_id], judgments[result.session_id]) for result in own)
    video, poster, note = _video(ws, own, *place)
    return CaseCard(
        case=case,
        exam=tuple(_asked(case)),
        sessions=lines,
        passed=sum(line.passed for line in lines),
        ended=sum(result.outcome.ended for result in own),
        video=video,
        poster=poster,
        video_note=note,
    )


def _asked(case: Case) -> Iterable[str]:
    for criterion in case.exam.criteria if case.exam is not None else ():
        optional = "" if criterion.required else " (optional)"
        yield f"{criterion.title}{optional}: {criterion.description}"


def _line(result: CaseResult, cause: FailureCause | None, judgment: Judgment | None) -> SessionLine:
    exam = result.exam
    criteria: tuple[CriterionScore, ...] = exam.criteria if exam is not None else ()
    if not criteria and judgment is not None:
        criteria = judgment.criteria
    interval = "" if exam is None or exam.low is None or exam.high is None else _percent(exam.low, exam.high)
    return SessionLine(
        seed=result.seed,
        outcome=result.outcome.replace("_", " "),
        passed=cause is None,
        itself="passed" if result.passed_itself else "not passed",
        exam="" if exam is None else f"{exam.n_met} of {exam.n_rollouts}",
        exam_interval=interval,
        score=score_in_words(exam.intent_score if exam is not None else result.intent_score),
        cause=cause.cause if cause is not None else "",
        detail=clean(cause.detail) if cause is not None else "",
        iterations=result.iterations,
        steps=f"{result.steps:,}",
        time=_duration(result.seconds),
        dollars=f"${sum(result.dollars.values()):.2f}" if result.dollars else "",
        criteria=tuple(_criterion(one) for one in criteria),
    )


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def _criterion(one: CriterionScore) -> CriterionLine:
    return CriterionLine(
        title=one.title,
        needed=needed(one.comparison, one.threshold, one.upper, one.unit),
        measured=number(one.value, one.unit),
        met_share=f"{100 * one.met_share:.0f} %",
        met=one.met,
        required=one.required,
    )


def _video(ws: Workspace, results: Sequence[CaseResult], videos: Videos, beside: Path) -> tuple[str, str, str]:
    """Source of a case's video, its poster, and what it shows; empty where no session has one."""
    for result in results:
        if videos is Videos.NONE or (iteration := _handed_in(ws, result)) is None:
            continue
        path = iteration.report.video(LABEL)
        if not is_readable(path):
            continue
        data = read_bytes(path)
        frame = SheetRecord(iteration.path).frame_path(1)
        poster = _inline(read_bytes(frame), "image/jpeg") if is_readable(frame) else ""
        note = f"Seed {result.seed}, the median of its report rollouts."
        if videos is Videos.INSIDE:
            return _inline(data, "video/mp4"), poster, note
        copied = beside / f"{result.case}.mp4"
        files.make_directory(beside)
        with files.replacing(copied) as temporary:
            temporary.write_bytes(data)
        return f"{beside.name}/{copied.name}", poster, note
    return "", "", ""


def _handed_in(ws: Workspace, result: CaseResult) -> IterationRecord | None:
    """Iteration whose policy a session handed in."""
    session = ws.runs.session(result.session_id)
    judged = best_judgment(session) if session.exists and result.outcome is not Outcome.OPEN else None
    return session.iteration(judged[0]) if judged is not None else None


def _inline(data: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def clean(text: str) -> str:
    """Text that may go to others: without keys, names of this user and machine; of absolute paths the last part."""
    text = PATH.sub(r"\1", redact_text(text))
    for name in _names():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "…", text)
    return text


@cache
def _names() -> tuple[str, ...]:
    """Names of the user and of the machine, where they are no ordinary words."""
    try:
        names = {getuser(), gethostname()}
    except (OSError, KeyError):  # a user without an entry in passwd
        names = {gethostname()}
    return tuple(name for name in names if len(name) >= SHORTEST_NAME and name not in ORDINARY)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
