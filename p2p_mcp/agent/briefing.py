"""What the model is told: once at the start, and when something happens on our side."""

from importlib.resources import files
from string import Template

from p2p.contracts.agent import AgentLimits, AgentRequest, Spending
from p2p.contracts.background import JobView
from p2p.contracts.session import SessionView
from p2p.contracts.spending import Price

NUDGE = (
    "The session has not passed, and there is budget left. Go on with the next tool; or, if nothing more can be "
    "reached, say why and what the best iteration is."
)
NO_SESSION = "There is no session yet. Call create_session with the sentence."
CUT = "It was not called: your answer was cut off at its length limit. Say less, and call it again."
GO_ON = "Your answer was cut off at its length limit. Go on, with less text."
EMPTY = "Your answer was empty. Call the next tool, or say that you are done."
REFUSED = (
    "Your last answer was stopped by a filter{reason}. The task is a reward for a simulated robot and nothing else; "
    "go on with it."
)
LITTLE = 0.75
"""Share of a cap from which on the model is told what is left."""


def system_prompt(limits: AgentLimits, price: Price | None) -> str:
    """The instructions; the same text for the whole conversation, so that it is cached."""
    text = files("p2p_mcp.agent.prompts").joinpath("system.md").read_text(encoding="utf-8")
    return Template(text).substitute(
        turns=limits.turns,
        tokens=f"{limits.tokens:,}",
        minutes=f"{limits.minutes:g}",
        steps=f"{limits.environment_steps:,}",
        money=f" and ${limits.dollars:g}" if price else "",
    )


def first_message(request: AgentRequest) -> str:
    """The task."""
    where = f"Environment: {request.env_id}." if request.env_id else "Choose the environment that suits."
    return f"Train this behaviour: {request.sentence}\n{where}"


def resumed(view: SessionView | None, jobs: tuple[JobView, ...]) -> str:
    """How things stand when a conversation goes on."""
    if view is None:
        return f"The work goes on after a break. {NO_SESSION}"
    best = "none is judged"
    if view.best_iteration is not None and view.judgment is not None:
        best = f"the best is iteration {view.best_iteration}"
    lines = [
        f"The work goes on after a break. Session {view.session.session_id} is {view.status}: "
        f"iteration {view.iteration}, {best}."
    ]
    lines += [f"{job.job_id} (iteration {job.iteration}) is {job.state}, {job.step:,}/{job.total:,}." for job in jobs]
    return "\n".join([*lines, "Pictures are gone; call judge_videos or view_rollout to see them again."])


def wish(line: str) -> str:
    """A line of the person who watches."""
    return f"The person watching says: {line}"


def what_is_left(limits: AgentLimits, spending: Spending) -> str:
    """What is left of the caps of which little is left; empty while there is plenty."""
    spent = {
        "turns": (spending.turns, limits.turns),
        "tokens": (spending.tokens, limits.tokens),
        "dollars": (spending.dollars or 0.0, limits.dollars),
        "minutes": (spending.seconds / 60, limits.minutes),
        "environment steps": (spending.environment_steps, limits.environment_steps),
    }
    scarce = [
        f"{max(cap - used, 0):,.2f} {name}" if name == "dollars" else f"{max(cap - used, 0):,.0f} {name}"
        for name, (used, cap) in spent.items()
        if used >= LITTLE * cap
    ]
    return f"Left of your caps: {', '.join(scarce)}." if scarce else ""
