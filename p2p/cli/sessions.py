"""`p2p list`, `show`, `watch`, `stop`, `resume` and `judge`: sessions that are there already."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.candidates import candidate_findings, candidate_table
from p2p.cli.costs import costs as cost_table
from p2p.cli.formats import age, share, short_path
from p2p.cli.keeping import marks
from p2p.cli.live import hints, threshold, title
from p2p.cli.model_options import CapOption, parse_caps
from p2p.cli.options import (
    AllowWeakSandbox,
    AsJson,
    BackendFromNowOn,
    Detach,
    Iteration,
    PriorityOption,
    RunsDir,
    SessionName,
    StopOnExit,
    examples,
    open_workspace,
)
from p2p.cli.output import Output
from p2p.cli.run import NOT_PASSED, finish, report_returns
from p2p.cli.steer import changed_settings
from p2p.cli.tables import table
from p2p.cli.verdict import ENDINGS, changes, ending, judged, returns, runs, standing
from p2p.contracts.errors import InvalidInput
from p2p.contracts.in_words import number
from p2p.contracts.iteration import IterationView
from p2p.contracts.reward import RewardReport
from p2p.contracts.session import Session, SessionStatus, SessionView
from p2p.contracts.training import EffectiveConfig
from p2p.service.judging.by_code import rejudge
from p2p.service.judging.caller_judgment import submit_judgment
from p2p.service.machines.setup import require_packages
from p2p.service.models import session_models
from p2p.service.models.session_models import set_caps
from p2p.service.progress import listing
from p2p.service.progress.details import view_iteration
from p2p.service.progress.listing import find_session
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import resume_session, set_priority, stop_session
from p2p.service.sessions.keeping import resume_interrupted

LIST_EXAMPLES = examples("p2p list", "p2p list --starred --tag paper", "p2p list --json | jq '.sessions | length'")
SHOW_EXAMPLES = examples(
    "p2p show", "p2p show latest --iteration 2", "p2p show latest --costs", "p2p show session_20260403 --json"
)
WATCH_EXAMPLES = examples("p2p watch", "p2p watch 1a2b3c4d")
STOP_EXAMPLES = examples("p2p stop", "p2p stop session_20260403_120000_1a2b3c4d")
RESUME_EXAMPLES = examples(
    "p2p resume", "p2p resume latest --iterations 6", "p2p resume 1a2b3c4d --detach", "p2p resume --all"
)
JUDGE_EXAMPLES = examples(
    "p2p judge",
    "p2p judge latest --iteration 1",
    'p2p judge 1a2b3c4d --intent "run forward without falling"',
    "p2p judge calibrate   (how often judges are right: p2p calibrate --help)",
    'p2p judge attack "walk forward" --env Ant-v5   (what fools the criteria: p2p attack --help)',
)

Total = Annotated[
    int | None,
    typer.Option("--iterations", "--max-iterations", min=1, max=100, help="Rewards tried at most, with those so far."),
]
Every = Annotated[bool, typer.Option("--all", help="All sessions that were interrupted; they go on by themselves.")]
Costs = Annotated[bool, typer.Option("--costs", help="Where its tokens, dollars and seconds went.")]
Starred = Annotated[bool, typer.Option("--starred", help="Only those with a star.")]
WithTags = Annotated[list[str] | None, typer.Option("--tag", help="Only those with this tag; may be repeated.")]
OtherSentence = Annotated[
    str | None, typer.Option("--intent", help="Judge by another sentence.", show_default="the session's own")
]


def list_sessions(
    starred: Starred = False, tags: WithTags = None, as_json: AsJson = False, runs_dir: RunsDir = None
) -> None:
    """List the sessions, the newest first; those in the trash are shown by `p2p trash`."""
    ws = open_workspace(runs_dir)
    views = listing.list_sessions(ws, starred=starred, tags=tags or ())
    empty = f'No sessions in {short_path(ws.runs.path)} yet. To start one: p2p run "run forward"'
    if starred or tags:
        empty = "No session is marked so. To see all: p2p list"
    interrupted = sum(view.status is SessionStatus.INTERRUPTED for view in views)
    told = f"{interrupted} interrupted; to go on with them: p2p resume --all" if interrupted else ""
    Output(as_json).result(
        {"sessions": [view.model_dump(mode="json") for view in views]},
        session_table(views) if views else empty,
        *filter(None, [told]),
    )


def show(
    session: SessionName = "latest",
    iteration: Iteration = None,
    costs: Costs = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Show a session in full: criteria, judgment, history, runs and files."""
    ws, output = open_workspace(runs_dir), Output(as_json)
    session_id = find_session(ws, session)
    if costs:
        found = session_models.costs(ws, session_id)
        output.result(found, *cost_table(found))
        return
    if iteration is not None:
        view = view_iteration(ws, session_id, iteration)
        output.result(view, *iteration_details(view))
        return
    whole = view_session(ws, session_id)
    tried = [view_iteration(ws, session_id, n + 1) for n in range(whole.iteration) if whole.session.candidates > 1]
    choices = [part for view in tried for part in candidate_table(view)]
    output.result(whole, *session_details(whole), *choices, *ending(whole, ws.runs.path, report_returns(ws, whole)))


def watch(session: SessionName = "latest", as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Follow a running session to its end; Ctrl-C leaves it running."""
    ws = open_workspace(runs_dir)
    finish(ws, find_session(ws, session), Output(as_json))


def stop(session: SessionName = "latest", as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Stop a session and its trainings; what is finished stays."""
    ws = open_workspace(runs_dir)
    session_id = find_session(ws, session)
    ended_before = view_session(ws, session_id).status.finished
    view = stop_session(ws, session_id)
    said = f"{session_id} had ended already: {ENDINGS[view.status][0]}."
    if not ended_before:
        said = f"Stopped {session_id}; what is finished stays. To go on: p2p resume {session_id}"
    Output(as_json).result(view, said)


def resume(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionName = "latest",
    iterations: Total = None,
    every: Every = False,
    cap: CapOption = None,
    priority: PriorityOption = None,
    backend: BackendFromNowOn = None,
    allow_weak_sandbox: AllowWeakSandbox = False,
    detach: Detach = False,
    stop_on_exit: StopOnExit = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Go on with a session that was stopped, killed or failed; no finished step is repeated."""
    ws = open_workspace(runs_dir, allow_weak_sandbox=allow_weak_sandbox)
    require_packages()
    if every:
        views = resume_interrupted(ws, backend)
        said = [f"Resumed {v.session.session_id}. To see it: p2p watch {v.session.session_id}" for v in views]
        found = {"sessions": [view.model_dump(mode="json") for view in views]}
        Output(as_json).result(found, *said or ["No session was interrupted."])
        return
    session_id = find_session(ws, session)
    if cap:
        set_caps(ws, session_id, **parse_caps(cap))

    def start(name: str) -> None:
        set_priority(ws, name, str(priority) if priority is not None else None)  # type: ignore[arg-type]
        resume_session(ws, name, iterations, backend)

    finish(ws, session_id, Output(as_json), start, detach=detach, stop_on_exit=stop_on_exit)


def judge(
    session: SessionName = "latest",
    iteration: Iteration = None,
    intent: OtherSentence = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Judge the recorded rollouts again, by the session's criteria or another sentence; nothing is overwritten.

    An iteration whose training was stopped, failed or was lost is judged by the best of its checkpoints, and the
    session can be revised or extended from there.
    """
    ws = open_workspace(runs_dir)
    session_id = find_session(ws, session)
    view = view_session(ws, session_id)
    number_of = iteration or view.best_iteration or (None if view.alive else view.iteration)
    if not number_of:
        raise InvalidInput(f"{session_id} has no judged iteration yet. To follow it: p2p watch {session_id}")
    if intent is None and not view.alive and view_iteration(ws, session_id, number_of).judgment is None:
        judgment = submit_judgment(ws, session_id, number_of, None)  # its training was stopped
    else:
        judgment = rejudge(ws, session_id, number_of, intent)
    Output(as_json).result(judgment, *judged(judgment, number_of))
    if not judgment.passed:
        raise typer.Exit(NOT_PASSED)


def session_table(views: tuple[SessionView, ...]) -> Table:
    """One row per session."""
    numbers = ("iterations", "score", "success", "age")
    named = ("name",) if any(marks(view) for view in views) else ()
    made = table("session", "status", "sentence", "environment", *numbers, *named, right=("session", *numbers))
    made.columns[0].justify = "left"
    for view in views:
        judgment, session = view.judgment, view.session
        words, style = standing(view)
        made.add_row(
            session.session_id,
            Text(words, style=style),
            _asked(session),
            session.env_id,
            f"{view.iteration}/{session.max_iterations}",
            number(judgment.intent_score if judgment else None),
            share(judgment.success_rate if judgment else None),
            age(session.created_at),
            *([Text(marks(view))] if named else []),
        )
    return made


def _asked(session: Session) -> Text:
    """What a session is about, and what it goes on from."""
    text = Text(session.prompt or "own reward")
    if (origin := session.extends) is not None:
        text.append(f" (goes on from iteration {origin.iteration} of …{origin.session_id[-8:]})", style="dim")
    return text


def session_details(view: SessionView) -> list[RenderableType]:
    """What `show` adds to the ending: the settings, the criteria and the runs of the last iteration."""
    session = view.session
    settings = ", ".join(f"{key}={value}" for key, value in session.config.items()) or "the environment's own"
    clear = "; trainings end when their verdict is clear" if session.stop_when_clear else ""
    where = f"; trained on {session.backend}" if session.backend not in ("", "local") else ""
    seeds = ", ".join(map(str, session.seeds))
    parts: list[RenderableType] = [
        Text(f"seeds {seeds}; author {session.author}; configuration: {settings}{clear}{where}")
    ]
    parts += changed_settings(view.settings_changes)
    if view.criteria:
        criteria = table("criterion", "needed", "what it means")
        for item in view.criteria:
            criteria.add_row(title(item.title, item.required), threshold(item), Text(item.description))
        parts.append(criteria)
    if view.runs and view.session.prompt:
        parts += [f"Runs of iteration {view.iteration}:", runs(view.runs), *hints(view.runs)]
    if view.history and not any(line.changes for line in view.history):
        parts.append(changes(view.history))
    return [*parts, ""]


def evaluation(report: RewardReport) -> str:
    """How a training evaluates a reward, and what it costs."""
    if report.method == "loop":
        why = f" ({report.method_reason})" if report.method_reason else ""
        return f"evaluated step by step{why}: {report.microseconds_per_call:.2g} µs a step"
    return f"evaluated all at once ({report.method}): {report.microseconds_per_step or 0.0:.2g} µs a step"


def configuration(config: EffectiveConfig) -> list[RenderableType]:
    """Every field of a training's configuration, a line for each of those who set some."""
    words = {
        "default": "p2p's default",
        "preset": "preset of the environment",
        "reward": "the reward's author",
        "session": "the session",
        "training": "this training",
    }
    groups = ((who, getattr(config, who)) for who in words)
    return [
        Text(f"configuration, {words[who]}: {', '.join(f'{name}={value}' for name, value in fields.items())}")
        for who, fields in groups
        if fields
    ]


def iteration_details(view: IterationView) -> list[RenderableType]:
    """One iteration: its reward, runs, judgment, and what was changed after it."""
    parts: list[RenderableType] = [Text(f"{view.session_id}, iteration {view.iteration}", style="bold")]
    report = view.reward_report
    if report is not None and report.spec is not None:
        parts.append(Text(f"reward: {report.spec.description or report.spec.latex}"))
        parts += [Text(f"  {term.name}: {term.description}") for term in report.spec.terms]
        parts.append(Text(f"  {evaluation(report)}", style="dim"))
    parts += [
        Text(f"  {issue.severity}: {issue.message}", style="yellow") for issue in (report.issues if report else ())
    ]
    if view.config is not None:
        parts += configuration(view.config)
    if view.candidates is not None:
        parts += [*candidate_table(view), *candidate_findings(view.candidates)]
    if view.runs:
        parts += [runs(view.runs), *hints(view.runs)]
    if view.report_returns:
        parts.append(returns(view.report_returns))
    if view.judgment is not None:
        parts += judged(view.judgment, view.iteration)
    if view.revision is not None:
        parts.append(Text(f"then changed, from iteration {view.revision.based_on}: {view.revision.diagnosis}"))
        parts += [Text(f"  {c.kind} {c.name}: {c.old} → {c.new} ({c.reason})") for c in view.revision.changes]
    return parts
