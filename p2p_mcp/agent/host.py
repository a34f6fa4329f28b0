"""The loop: the model answers, its tools are called, and both are written down."""

from collections.abc import Callable, Sequence
from typing import Any

from anyio.from_thread import BlockingPortal
from mcp import Client

from p2p.contracts.agent import AgentEnding, AgentEvent, AgentRequest, EventKind
from p2p.contracts.errors import P2PError
from p2p.contracts.inference import (
    GIVE_UP_AFTER,
    AuthenticationFailed,
    ModelProblem,
    ModelReply,
    ModelRequest,
    RequestRejected,
    StopReason,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from p2p.contracts.session import SessionStatus
from p2p.service.models.agent_model import agent_model, tokens_to_read
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.steering import steer
from p2p.service.workspace import Workspace
from p2p_mcp.agent import briefing
from p2p_mcp.agent.agent_budget import MAX_ANSWER, AgentBudget
from p2p_mcp.agent.calling import ToolCaller
from p2p_mcp.agent.conversation import Conversation
from p2p_mcp.agent.converter import failed_call
from p2p_mcp.agent.ended import Ended
from p2p_mcp.agent.prices import PROVIDER
from p2p_mcp.agent.result_words import in_one_line
from p2p_mcp.agent.typed_lines import TypedLines

JUDGED = ("submit_judgment", "write_reward")
"""After these the pictures shown before are not needed any more."""


class Host:
    """Lets a model work until it is done or a cap is reached.

    Args:
        service: what the tools stand on.
        request: what is asked for.
        budget: the caps.
        conversation: what was said so far, and where it is written.
        steering: lines of the person who watches.
        show: shows what happens.
        session_id: of the session that goes on.

    Raises:
        MissingExtra: the provider's library is not installed.
    """

    def __init__(
        self,
        ws: Workspace,
        request: AgentRequest,
        budget: AgentBudget,
        conversation: Conversation,
        steering: TypedLines,
        show: Callable[[AgentEvent], None],
        session_id: str | None = None,
    ) -> None:
        self._ws = ws
        self._request = request
        self._budget = budget
        self._conversation = conversation
        self._steering = steering
        self._show = show
        self.session_id = session_id
        self.last_words = ""
        self._model = agent_model(ws.settings, f"{PROVIDER}:{request.model}", self._broken, self._piece)
        self._system = briefing.system_prompt(request.limits, budget.price)
        self._stumbles, self._nudged = 0, False
        self._tools: tuple[ToolSpec, ...] = ()
        self._unkept: list[str] = []

    def close(self) -> None:
        """Close the connection to the model."""
        self._model.close()

    def run(self, portal: BlockingPortal, client: Client, allowed: Sequence[str]) -> Ended:
        """Work until something ends it; returns what did.

        Args:
            portal: Where the client runs.
            client: Of the server with the tools.
            allowed: Tools that may be called.

        Raises:
            P2PError: the provider refuses the key or the request, or the disk is full.
        """
        self._portal = portal
        self._caller = ToolCaller(client, self._ws, self._budget, self._show, self._moved, self._request.model)
        try:
            self._tools = self._wait_for(self._caller.open, allowed)
            while True:
                self._turn()
        except Ended as ended:
            return ended

    def _turn(self) -> None:
        """Ask the model once, and call the tools of its answer in their order."""
        for line in self._steering.take():
            self._conversation.say(briefing.wish(line))
            self._tell(EventKind.WISH, line)
            self._unkept.append(line)
        self._keep_wishes()
        reply = self._ask()
        if reply.stop is StopReason.REFUSED:  # a filter stopped the answer, which is left out
            reason = f" ({reply.refusal})" if reply.refusal else ""
            self._stumble(f"The provider's filter refused the answer{reason}.", AgentEnding.REFUSED)
            self._conversation.say(briefing.REFUSED.format(reason=reason))
            return
        self._conversation.add(reply.message)
        self.last_words = reply.text or self.last_words
        if reply.stop is StopReason.MAX_TOKENS:  # its calls may be incomplete, so none of them is made
            self._stumble("The answer was cut off at its length limit.")
            cut = [failed_call(call, briefing.CUT) for call in reply.tool_calls]
            self._conversation.answer(cut or [TextPart(text=briefing.GO_ON)])
            return
        if reply.stop is StopReason.CONTEXT_FULL:
            raise Ended(AgentEnding.PROBLEM, "The conversation has outgrown the model's context.")
        if not reply.tool_calls:
            self._finish(reply)
            return
        results = [self._result(call) for call in reply.tool_calls]
        self._nudged = False
        left = briefing.what_is_left(self._request.limits, self._budget.spending)
        self._conversation.answer([*results, *([TextPart(text=left)] if left else [])])

    def _ask(self) -> ModelReply:
        """The next answer, no longer than the caps can bear."""
        request = ModelRequest(
            system=self._system,
            messages=tuple(self._conversation.messages),
            tools=self._tools,
            effort=self._request.effort,
            long_conversation=True,
            max_tokens=MAX_ANSWER,
        )
        most = self._budget.open_turn(tokens_to_read(request))
        self._tell(EventKind.TURN)
        request = request.model_copy(update={"max_tokens": most})
        try:
            reply = self._model.complete(request, self._budget.seconds_left)
        except (AuthenticationFailed, RequestRejected):
            raise
        except ModelProblem as problem:
            self._budget.require_time()  # it may have been broken off because the time is up
            raise Ended(AgentEnding.PROBLEM, str(problem)) from problem
        self._budget.charge(reply.usage)
        return reply

    def _result(self, call: ToolCall) -> ToolResult:
        """Call one tool, and show what is called and what comes back."""
        values = []
        for name, value in call.arguments.items():
            text = str(value)
            lines = text.count("\n") + 1
            short = text if len(text) <= 60 else f"{text[:57]}..."
            shown = f"<{lines} lines>" if lines > 1 else short
            values.append(f"{name}={shown}")
        self._tell(EventKind.TOOL, f"{call.name}({', '.join(values)})")
        result: ToolResult = self._wait_for(self._caller.call, call)
        self._tell(EventKind.RESULT, in_one_line(call.name, result))
        if not result.is_error:
            self._stumbles = 0
            if call.name in JUDGED:
                self._conversation.forget_pictures()
        return result

    def _wait_for(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a coroutine function in the client's event loop, until the time is up or somebody interrupts."""
        started = self._portal.start_task_soon(function, *args)
        try:
            return started.result(max(self._budget.seconds_left, 0))
        except TimeoutError:
            self._budget.require_time()
            raise
        finally:
            started.cancel()

    def _finish(self, reply: ModelReply) -> None:
        """The model calls no tool: it is done, or has to be reminded once."""
        if reply.empty:
            self._stumble("The model said nothing.")
            self._conversation.say(briefing.EMPTY)
            return
        status = view_session(self._ws, self.session_id).status if self.session_id else None
        if status is SessionStatus.PASSED:
            raise Ended(AgentEnding.PASSED, "The session has passed.")
        if self._nudged:
            raise Ended(AgentEnding.STOPPED, "The model stopped; the session has not passed.")
        self._nudged = True
        self._conversation.say(briefing.NUDGE if self.session_id else briefing.NO_SESSION)

    def _stumble(self, what: str, ending: AgentEnding = AgentEnding.PROBLEM) -> None:
        self._stumbles += 1
        self.problem(what)
        if self._stumbles >= GIVE_UP_AFTER:
            raise Ended(ending, f"{what} It happened {self._stumbles} times in a row.")

    def _keep_wishes(self) -> None:
        """Write what was typed into the session, so that whoever goes on with it knows it too."""
        while self.session_id and self._unkept:
            line = self._unkept.pop(0)
            try:
                steer(self._ws, self.session_id, line)
            except P2PError as error:
                self.problem(f"The wish could not be kept in the session: {error}")

    def _moved(self, session_id: str) -> None:
        self.session_id = session_id
        self._conversation.transcript.move_to(session_id)
        self._keep_wishes()

    def _tell(self, kind: EventKind, text: str = "") -> None:
        self._show(AgentEvent(kind=kind, text=text, spending=self._budget.spending))

    def _piece(self, text: str) -> None:
        """Show a piece of an answer."""
        self._tell(EventKind.TEXT, text)

    def _broken(self, problem: ModelProblem) -> None:
        """Count what a broken answer used, and tell that it is asked for again where it is."""
        self._budget.charge(problem.usage)
        if problem.transient:
            self.problem(str(problem))

    def problem(self, what: str) -> None:
        """Show and write down what went wrong."""
        self._conversation.note(what)
        self._tell(EventKind.PROBLEM, what)
