"""`p2p show`: one session in full."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.candidates import candidate_findings, candidate_table
from p2p.cli.costs import costs as cost_table
from p2p.cli.live import hints, threshold, title
from p2p.cli.options import AsJson, Iteration, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.cli.verdict import changed_settings, changes, ending, judged, returns, runs
from p2p.contracts.reward import RewardReport
from p2p.contracts.session import IterationView, SessionView
from p2p.contracts.training import EffectiveConfig
from p2p.service.progress.details import view_iteration
from p2p.service.progress.listing import find_session
from p2p.service.progress.session_view import view_session
from p2p.service.workspace import Workspace

SHOW_EXAMPLES = examples(
    "p2p show", "p2p show latest --iteration 2", "p2p show latest --costs", "p2p show session_20260403 --json"
)

Costs = Annotated[bool, typer.Option("--costs", help="Where its tokens, dollars and seconds went.")]


def show(
    session: SessionName = "latest",
    iteration: Iteration = None,
    costs: Costs = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Show a session in full: criteria, judgment, history, runs and files."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    session_id = find_session(ws, session)
    if costs:
        # with all that talks to language models, which a look at a session does without
        from p2p.service.models import session_models  # noqa: PLC0415

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


def report_returns(ws: Workspace, view: SessionView) -> tuple[float, ...]:
    """What the report rollouts brought, where there are no criteria to tell."""
    if view.session.prompt or view.best_iteration is None:
        return ()
    return view_iteration(ws, view.session.session_id, view.best_iteration).report_returns


def session_details(view: SessionView) -> list[RenderableType]:
    """What `show` adds to the ending: the settings, the runs of the last iteration, and criteria not judged yet."""
    session = view.session
    settings = ", ".join(f"{key}={value}" for key, value in session.config.items()) or "the environment's own"
    clear = "; trainings end when their verdict is clear" if session.stop_when_clear else ""
    where = f"; trained on {session.backend}" if session.backend not in ("", "local") else ""
    seeds = ", ".join(map(str, session.seeds))
    parts: list[RenderableType] = [
        Text(f"seeds {seeds}; author {session.author}; configuration: {settings}{clear}{where}")
    ]
    parts += changed_settings(view.settings_changes)
    if view.criteria and view.judgment is None:  # its table has them too
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
