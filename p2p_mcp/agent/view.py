"""What an agent does, as it is seen on a terminal or in a log."""

from types import TracebackType

from rich.console import Console
from rich.status import Status

from p2p.contracts.agent import AgentEvent, AgentLimits, AgentPlan, AgentReport, EventKind, JobProgress, Spending
from p2p.contracts.intent import score_in_words
from p2p.contracts.numbers import duration

TENTH = 0.1


class AgentView:
    """Shows the events of an agent: its words as they come, a job as one line that moves.

    Args:
        console: where it is shown.
        limits: what the agent may spend.
    """

    def __init__(self, console: Console, limits: AgentLimits) -> None:
        self._console = console
        self._limits = limits
        self._status: Status | None = None
        self._in_text = False
        self._shown: dict[str, float] = {}

    def __enter__(self) -> "AgentView":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._settle()

    def show(self, event: AgentEvent) -> None:
        """Show one event."""
        if event.kind is EventKind.TEXT:
            if not self._in_text:
                self._settle()
                self._in_text = True
            self._console.print(event.text, end="", soft_wrap=True, markup=False)
        elif event.kind is EventKind.JOB and event.job:
            self._job(event.job, event.spending)
        else:
            self._settle()
            self._console.print(self._line(event), soft_wrap=True, markup=False)

    def _line(self, event: AgentEvent) -> str:
        if event.kind is EventKind.TURN:
            return f"── {spent_in_words(event.spending, self._limits)}"
        marks = {EventKind.TOOL: "→", EventKind.RESULT: "←", EventKind.PROBLEM: "!", EventKind.WISH: "you:"}
        return f"{marks[event.kind]} {event.text}"

    def _job(self, job: JobProgress, spending: Spending) -> None:
        line = f"{job_in_words(job)} · {spent_in_short(spending, self._limits)}"
        if self._console.is_terminal:
            if self._status is None:
                self._settle()
                self._status = self._console.status(line)
                self._status.start()
            self._status.update(line)
            return
        share = job.step / job.total if job.total else 0.0
        if job.job_id not in self._shown or share >= self._shown[job.job_id] + TENTH or job.state.finished:
            self._shown[job.job_id] = share
            self._console.print(f"  {line}", soft_wrap=True, markup=False)

    def _settle(self) -> None:
        """End the line that is being written."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._in_text:
            self._console.print()
            self._in_text = False


def job_in_words(job: JobProgress) -> str:
    """A job in one line."""
    if job.queue_position is not None:
        return f"{job.job_id} waits, number {job.queue_position} in line"
    eta = f", {duration(job.eta_s)} left" if job.eta_s is not None else ""
    return f"iteration {job.iteration} {job.state}: {job.step:,}/{job.total:,} steps{eta}"


def spent_in_words(spending: Spending, limits: AgentLimits) -> str:
    """What is spent of each cap."""
    return (
        f"{spent_in_short(spending, limits)} · {spending.tokens:,}/{limits.tokens:,} tokens · "
        f"{spending.environment_steps:,}/{limits.environment_steps:,} steps"
    )


def spent_in_short(spending: Spending, limits: AgentLimits) -> str:
    """What is spent of turns, money and time."""
    dollars = "price unknown" if spending.dollars is None else f"${spending.dollars:.2f}/${limits.dollars:g}"
    return f"turn {spending.turns}/{limits.turns} · {dollars} · {spending.seconds / 60:.1f}/{limits.minutes:g} min"


def ending_lines(report: AgentReport) -> list[str]:
    """How it ended, and how to go on."""
    best = "nothing was judged" if report.best_score is None else f"best score {score_in_words(report.best_score)}"
    lines = [
        f"{report.ending}: {report.reason}",
        f"spent: {spent_in_words(report.spending, report.limits)}",
    ]
    if report.session_id:
        lines.append(f"session {report.session_id}: {report.status}, {report.iterations} iterations, {best}")
        lines.append(f"  see it:   p2p show {report.session_id}")
    lines += [f"  still at work: {job_id}   (p2p jobs)" for job_id in report.running_jobs]
    lines.append(f"  go on:    p2p agent --resume {report.transcript_id}")
    return lines


def plan_lines(plan: AgentPlan) -> list[str]:
    """What would be started."""
    limits = plan.limits
    if plan.price is None:
        priced = "price unknown: the tokens are capped, the dollars are not"
    else:
        rates = f"${plan.price.input:g} read and ${plan.price.output:g} written per million tokens"
        priced = f"{rates} (prices of {plan.price_date})"
    return [
        f"model      {plan.model}, effort {plan.effort}, {priced}",
        f"caps       {limits.turns} turns, {limits.tokens:,} tokens, ${limits.dollars:g}, {limits.minutes:g} minutes, "
        f"{limits.environment_steps:,} environment steps",
        f"first turn about {plan.first_request_tokens:,} tokens: instructions, {len(plan.tools)} tools and the task",
        *(f"task       {line}" for line in plan.first_message.splitlines()),
        *(f"  {tool.name:22} {tool.description}" for tool in plan.tools),
        "Nothing was sent.",
    ]
