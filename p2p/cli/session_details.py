"""What `p2p show` says of a session, and of one of its iterations."""

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from p2p.cli.candidates import candidate_findings, candidate_table
from p2p.cli.live import hints, threshold, title
from p2p.cli.tables import table
from p2p.cli.verdict import changed_settings, changes, ending, judged, next_changes, returns, runs
from p2p.contracts.advice import Advice
from p2p.contracts.session import SessionView
from p2p.service.progress.advising import advice_on
from p2p.service.workspace import Workspace

if TYPE_CHECKING:
    from p2p.contracts.iteration import IterationView
    from p2p.contracts.reward import RewardReport
    from p2p.contracts.training import EffectiveConfig


def whole_session(ws: Workspace, view: SessionView) -> list[RenderableType]:
    """A session from its settings to its files."""
    choices: list[RenderableType] = []
    if view.session.candidates > 1:
        from p2p.service.progress.details import view_iteration  # noqa: PLC0415  with all contracts, seldom needed

        tried = [view_iteration(ws, view.session.session_id, n + 1) for n in range(view.iteration)]
        choices = [part for one in tried for part in candidate_table(one)]
    return [
        *session_details(view),
        *choices,
        *ending(view, ws.settings.runs_dir, report_returns(ws, view), advice(ws, view)),
    ]


def report_returns(ws: Workspace, view: SessionView) -> tuple[float, ...]:
    """What the report rollouts brought, where there are no criteria to tell."""
    if view.session.prompt or view.best_iteration is None:
        return ()
    from p2p.service.progress.details import view_iteration  # noqa: PLC0415  with all contracts, seldom needed

    return view_iteration(ws, view.session.session_id, view.best_iteration).report_returns


def advice(ws: Workspace, view: SessionView) -> tuple[Advice, ...]:
    """What to do next about the best iteration; nothing where it passed, or there is none."""
    if view.best_iteration is None or view.judgment is None or view.judgment.passed:
        return ()
    return advice_on(ws.record(view.session.session_id), view.best_iteration)


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
    if view.history and not any(line.changes or line.from_policy for line in view.history):
        parts.append(changes(view.history))
    return [*parts, ""]


def evaluation(report: "RewardReport") -> str:
    """How a training evaluates a reward, and what it costs."""
    if report.method == "loop":
        why = f" ({report.method_reason})" if report.method_reason else ""
        return f"evaluated step by step{why}: {report.microseconds_per_call:.2g} µs a step"
    return f"evaluated all at once ({report.method}): {report.microseconds_per_step or 0.0:.2g} µs a step"


def configuration(config: "EffectiveConfig") -> list[RenderableType]:
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


def iteration_details(view: "IterationView") -> list[RenderableType]:
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
    if view.from_policy is not None:
        optimizer = "its optimiser" if view.from_policy.optimizer_sha256 else "a fresh optimiser"
        parts.append(Text(f"goes on from the policy of {view.from_policy.words}, with {optimizer}"))
        parts.append(Text(f"  {view.from_policy.steps:,} steps had led to it  {view.from_policy.proposed_by}".rstrip()))
    if view.candidates is not None:
        parts += [*candidate_table(view), *candidate_findings(view.candidates)]
    if view.runs:
        parts += [runs(view.runs), *hints(view.runs)]
    if view.report_returns:
        parts.append(returns(view.report_returns))
    if view.judgment is not None:
        parts += judged(view.judgment, view.iteration)
        parts += [] if view.judgment.passed else next_changes(view.advice)
    if view.revision is not None:
        parts.append(Text(f"then changed, from iteration {view.revision.based_on}: {view.revision.diagnosis}"))
        parts += [Text(f"  {c.kind} {c.name}: {c.old} → {c.new} ({c.reason})") for c in view.revision.changes]
    return parts
