"""The page of a run: one HTML file with every case, its video, its numbers and why sessions did not pass; or the same
without videos as Markdown."""

import base64
import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from p2p.analysis.failure_causes import failure_cause
from p2p.analysis.suite_comparison import ReadRun, estimate_of, groups_of, main_metric, metrics_of, run_estimate, values
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import interval_in_words, needed, number, score_in_words, share_in_words
from p2p.contracts.judgment import CriterionScore, Judgment
from p2p.contracts.numbers import duration
from p2p.contracts.suite import Case, CaseResult, Outcome, Suite, SuiteRunView
from p2p.contracts.suite_comparison import SHARES, Estimate, Metric
from p2p.contracts.suite_page import Cause, FailureCause
from p2p.redaction import for_others
from p2p.service.suites.comparing import TITLES, estimate_in_words
from p2p.service.suites.exams import best_judgment
from p2p.service.suites.results import opened, view_suite_run
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord
from p2p.store.suites import SuiteRuns
from p2p.store.untrusted_files import is_readable, read_bytes

FORMS = {".html": "page.html.j2", ".md": "page.md.j2"}
"""Template by the end of the file's name."""
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


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is read of one session, once."""

    result: CaseResult
    judgment: Judgment | None
    handed_in: IterationRecord | None
    """Iteration whose policy it hands in."""
    cause: FailureCause | None
    """Why it did not pass."""


def write_page(ws: Workspace, name: str, output: Path | None = None, videos: Videos = Videos.INSIDE) -> Path:
    """Write the page of a run.

    Args:
        ws: The workspace.
        name: Of the run.
        output: File to write, `.html` or `.md`; None takes `page.html` in the run's directory.
        videos: Where the videos of HTML go; one for each case, of the median rollout of its first session that has one.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: no session has ended yet, or the file cannot be one.
        StorageProblem: it cannot be written.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    target = output or record.page_path
    if target.is_dir() or target.suffix not in FORMS:
        raise InvalidInput(f"{target} cannot be the page: expected a file whose name ends with {' or '.join(FORMS)}.")
    suite, run = opened(record)
    view = view_suite_run(ws, name)
    read = ReadRun(run, suite, view.results)
    if not read.ended:
        raise InvalidInput(f"No session of {name} has ended yet: there is nothing to show.")
    sessions = [_shown(ws, suite, result) for result in view.results]
    causes = [session.cause for session in sessions if session.cause is not None]
    beside = target.parent / f"{target.stem}_videos"
    videos = videos if target.suffix == ".html" else Videos.NONE
    cards = [_card(case, sessions, (videos, beside)) for case in _cases(suite, view)]
    files.write_text(target, _render(FORMS[target.suffix], read, view, cards, causes))
    return target


def _cases(suite: Suite, view: SuiteRunView) -> list[Case]:
    run = {result.case for result in view.results}
    return [case for case in suite.cases if case.name in run]


def _shown(ws: Workspace, suite: Suite, result: CaseResult) -> _Shown:
    session = ws.runs.session(result.session_id)
    judged = best_judgment(session) if session.exists and result.outcome is not Outcome.OPEN else None
    number, judgment = judged if judged is not None else (None, None)
    return _Shown(
        result,
        judgment,
        session.iteration(number) if number is not None else None,
        failure_cause(result, judgment, has_exam=suite.exam_of(result.case) is not None),
    )


def _render(
    form: str, read: ReadRun, view: SuiteRunView, cards: Sequence[CaseCard], causes: Sequence[FailureCause]
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - the service starts without

    templates = Environment(
        loader=PackageLoader("p2p.service.suites", "."),
        autoescape=form.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["cell"] = _cell
    main = main_metric(read.suite)
    counts = Counter(one.cause for one in causes)
    system = read.run.system
    measured = {
        "author": system.model or system.author,
        "judge": system.judge_model or "measured criteria",
        "trainings of an iteration": f"{system.n_seeds} x {system.n_configs}",
        "most iterations": str(read.suite.budget.max_iterations or system.max_iterations),
        "seeds": ", ".join(map(str, read.run.seeds)),
    }
    return templates.get_template(form).render(
        run=read.run,
        suite=read.suite,
        view=view,
        measured={key: for_others(str(value)) for key, value in measured.items()},
        versions=read.run.versions,
        bars=[_bar(metric, read, main) for metric in metrics_of([read])],
        groups=_groups(read, main),
        causes=[(cause.value, counts[cause], _where(causes, cause)) for cause in Cause if counts[cause]],
        cards=cards,
        with_exam=main is Metric.EXAM,
        stages=[stage for stage in view.stages if len(view.stages) > 1 or stage.gate is not None],
        total_time=duration(sum(result.seconds for result in view.results)),
        total_dollars=sum(view.dollars.values()),
    )


def _cell(text: str) -> str:
    """A text on one line of a Markdown table: what would end the cell, or begin a tag, is written as itself."""
    return " ".join(html.escape(text, quote=False).split()).replace("|", "\\|")


def _where(causes: Sequence[FailureCause], cause: Cause) -> list[tuple[str, int]]:
    """What exactly the sessions of one cause missed, the most frequent first."""
    details = Counter(for_others(one.detail) for one in causes if one.cause is cause)
    return [(detail, count) for detail, count in details.most_common() if detail]


def _bar(metric: Metric, read: ReadRun, main: Metric) -> Bar:
    return _as_bar(TITLES[metric], metric, run_estimate(metric, read), main=metric is main)


def _as_bar(title: str, metric: Metric, found: Estimate, *, main: bool = False) -> Bar:
    share = metric in SHARES
    if found.mean is None:
        return Bar(title, "–", "", 0)

    text, interval = estimate_in_words(metric, found)
    mean, low, high = (
        100 * value if share and value is not None else None for value in (found.mean, found.low, found.high)
    )
    return Bar(title, text, interval, found.n_cases, mean, low, high, main)


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


def _card(case: Case, sessions: Sequence[_Shown], place: tuple[Videos, Path]) -> CaseCard:
    own = [session for session in sessions if session.result.case == case.name]
    lines = tuple(_line(session) for session in own)
    video, poster, note = _video(own, *place)
    return CaseCard(
        case=case,
        exam=tuple(_asked(case)),
        sessions=lines,
        passed=sum(line.passed for line in lines),
        ended=sum(session.result.outcome.ended for session in own),
        video=video,
        poster=poster,
        video_note=note,
    )


def _asked(case: Case) -> Iterable[str]:
    for criterion in case.exam.criteria if case.exam is not None else ():
        optional = "" if criterion.required else " (optional)"
        yield f"{criterion.title}{optional}: {criterion.description}"


def _line(session: _Shown) -> SessionLine:
    result, cause = session.result, session.cause
    exam = result.exam
    criteria: tuple[CriterionScore, ...] = exam.criteria if exam is not None else ()
    if not criteria and session.judgment is not None:
        criteria = session.judgment.criteria
    return SessionLine(
        seed=result.seed,
        outcome=result.outcome.replace("_", " "),
        passed=cause is None,
        itself="passed" if result.passed_itself else "not passed",
        exam="" if exam is None else f"{exam.n_met} of {exam.n_rollouts}",
        exam_interval=_interval(exam.low, exam.high) if exam is not None else "",
        score=score_in_words(exam.intent_score if exam is not None else result.intent_score),
        cause=cause.cause if cause is not None else "",
        detail=for_others(cause.detail) if cause is not None else "",
        iterations=result.iterations,
        steps=f"{result.steps:,}",
        time=duration(result.seconds),
        dollars=f"${sum(result.dollars.values()):.2f}" if result.dollars else "",
        criteria=tuple(_criterion(one) for one in criteria),
    )


def _interval(low: float | None, high: float | None) -> str:
    return interval_in_words(low, high).replace("%", " %") if low is not None else ""


def _criterion(one: CriterionScore) -> CriterionLine:
    return CriterionLine(
        title=one.title,
        needed=needed(one.comparison, one.threshold, one.upper, one.unit),
        measured=number(one.value, one.unit),
        met_share=share_in_words(one.met_share).replace("%", " %"),
        met=one.met,
        required=one.required,
    )


def _video(sessions: Sequence[_Shown], videos: Videos, beside: Path) -> tuple[str, str, str]:
    """Source of a case's video, its poster, and what it shows; empty where no session has one."""
    for session in sessions:
        iteration, result = session.handed_in, session.result
        if videos is Videos.NONE or iteration is None or not is_readable(path := iteration.report.video(LABEL)):
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


def _inline(data: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
