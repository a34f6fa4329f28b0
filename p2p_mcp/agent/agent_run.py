"""One run of an agent: from the request, or from a transcript, to the report."""

import logging
from collections.abc import Callable
from typing import TextIO

from anyio.from_thread import start_blocking_portal
from mcp import Client

from p2p.contracts.agent import AgentEnding, AgentEvent, AgentReport, AgentRequest
from p2p.contracts.errors import EnvironmentProblem, P2PError
from p2p.service.progress.job_views import list_jobs
from p2p.service.sessions.background import cancel_job
from p2p.service.sessions.transcripts import find_transcript, read_transcript
from p2p.service.workspace import Workspace
from p2p.settings import api_key
from p2p_mcp.agent import briefing
from p2p_mcp.agent.agent_budget import AgentBudget
from p2p_mcp.agent.calling import LOOP, server_for
from p2p_mcp.agent.conversation import Conversation
from p2p_mcp.agent.ended import Ended
from p2p_mcp.agent.host import Host
from p2p_mcp.agent.prices import price_for
from p2p_mcp.agent.report import report, running_jobs, session_view
from p2p_mcp.agent.transcript import Transcript, restore
from p2p_mcp.agent.typed_lines import TypedLines

KEY = "ANTHROPIC_API_KEY"
NO_KEY = (
    f'{KEY} is not set, and the agent is Claude. Without a key: `p2p run "SENTENCE"` uses the built-in author, '
    "and any MCP client with a model of its own can work with `p2p-mcp`."
)


def converse(
    ws: Workspace, request: AgentRequest, show: Callable[[AgentEvent], None], lines: TextIO | None = None
) -> AgentReport:
    """Let a model work on a sentence until it passes, a cap is reached, or somebody interrupts it.

    Args:
        service: what the tools stand on.
        request: what is asked for.
        show: shows what happens; called from the loop's thread.
        lines: what the person who watches types; None where nobody does.

    Raises:
        EnvironmentProblem: there is no key, or it is refused.
        InvalidInput: the request cannot be met, or the provider refuses it.
    """
    logging.basicConfig(level=logging.WARNING)  # before the server, which would log each request
    steering = TypedLines()
    if lines is not None:
        steering.listen(lines)
    agent_run = AgentRun(ws, request, show, steering)
    try:
        return agent_run.run()
    finally:
        agent_run.close()


class AgentRun:
    """Puts the parts of an agent together, and takes them apart again."""

    def __init__(
        self, ws: Workspace, request: AgentRequest, show: Callable[[AgentEvent], None], steering: TypedLines
    ) -> None:
        if api_key(KEY) is None:
            raise EnvironmentProblem(NO_KEY)
        transcript_id = find_transcript(ws, request.resume) if request.resume is not None else None
        entries = read_transcript(ws, transcript_id) if transcript_id is not None else ()
        self._request = request
        self._budget = AgentBudget(request.limits, price_for(request), entries[-1].spending if entries else None)
        self._ws = ws
        self._transcript = Transcript(ws, transcript_id)
        self._conversation = Conversation(self._transcript, lambda: self._budget.spending, restore(entries))
        session = session_view(ws, transcript_id)
        self._host = Host(
            ws,
            self._request,
            self._budget,
            self._conversation,
            steering,
            show,
            session.session.session_id if session else None,
        )

    def run(self) -> AgentReport:
        """Work until something ends it."""
        self._transcript.start(self._request, self._budget.spending)
        if not self._conversation.messages:
            self._conversation.say(briefing.first_message(self._request))
        elif self._request.resume:
            view = session_view(self._ws, self._host.session_id)
            jobs = list_jobs(self._ws, self._host.session_id) if view else ()
            self._conversation.say(briefing.resumed(view, jobs))
            if self._request.line.strip():
                self._conversation.say(briefing.wish(self._request.line))
        outcome: Ended | P2PError
        client = Client(server_for(self._ws, self._request))
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
            try:  # an error that left the client's block would come out wrapped in a group
                outcome = self._host.run(portal, client, self._request.tools or LOOP)
            except P2PError as error:
                outcome = error
            except KeyboardInterrupt:
                outcome = Ended(AgentEnding.INTERRUPTED, "Interrupted; trainings that have begun go on.")
        if isinstance(outcome, P2PError):
            self._transcript.end(str(outcome), self._budget.spending)
            raise outcome
        if outcome.ending is AgentEnding.BUDGET and self._budget.seconds_left <= 0:
            stopped = running_jobs(self._ws, self._host.session_id)
            for job_id in stopped:  # a training would go on without its agent
                cancel_job(self._ws, job_id)
            rest = f" {', '.join(stopped)} was stopped with it." if stopped else ""
            outcome = Ended(
                AgentEnding.BUDGET,
                f"The cap of {self._request.limits.minutes:g} minutes is reached.{rest} To go on, raise --max-minutes.",
            )
        return self.end(outcome)

    def close(self) -> None:
        """Let others go on with the transcript, and leave the provider."""
        self._host.close()
        self._transcript.close()

    def end(self, ended: Ended) -> AgentReport:
        """Write down how it ended; returns the report."""
        self._transcript.end(f"{ended.ending}: {ended.reason}", self._budget.spending)
        return report(
            self._ws,
            self._request,
            self._transcript.transcript_id,
            self._host.session_id,
            ended,
            (self._budget.spending, self._host.last_words),
        )
