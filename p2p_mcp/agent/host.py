"""The loop: the model answers, its tools are called, and both are written down."""

from collections.abc import Callable

from mcp import Client

from p2p.contracts.agent import AgentEnding, AgentEvent, AgentRequest, EventKind
from p2p.contracts.errors import P2PError
from p2p.contracts.session import SessionStatus
from p2p.contracts.usage import Usage
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.steering import steer
from p2p.service.workspace import Workspace
from p2p_mcp.agent import briefing
from p2p_mcp.agent.budget import Budget
from p2p_mcp.agent.calling import ToolCaller
from p2p_mcp.agent.claude import Answer, Claude, Question
from p2p_mcp.agent.context import estimate_tokens
from p2p_mcp.agent.conversation import Conversation
from p2p_mcp.agent.converter import Block, text_block, tool_result
from p2p_mcp.agent.ending import Ended
from p2p_mcp.agent.reading import calls_of, text_of
from p2p_mcp.agent.result_words import in_one_line
from p2p_mcp.agent.steering import Steering

JUDGED = ("submit_judgment", "write_reward")
"""After these the pictures shown before are not needed any more."""
PATIENCE = 3
"""Answers in a row that lead nowhere, before we give up."""


class Host:
    """Lets a model work until it is done or a cap is reached.

    Args:
        ws: what the tools stand on.
        request: what is asked for.
        claude: the model.
        budget: the caps.
        conversation: what was said so far, and where it is written.
        steering: lines of the person who watches.
        show: shows what happens.
        session_id: of the session that goes on.
    """

    def __init__(  # noqa: PLR0913  the parts of one sitting, each with its own life
        self,
        ws: Workspace,
        request: AgentRequest,
        claude: Claude,
        budget: Budget,
        conversation: Conversation,
        steering: Steering,
        show: Callable[[AgentEvent], None],
        session_id: str | None = None,
    ) -> None:
        self._ws, self._request, self._claude, self._budget = ws, request, claude, budget
        self._conversation, self._steering, self._show = conversation, steering, show
        self.session_id, self.last_words = session_id, ""
        self._system = briefing.system_prompt(request.limits, budget.price)
        self._stumbles, self._nudged = 0, False
        self._tools: list[Block] = []
        self._unkept: list[str] = []

    async def run(self, client: Client, allowed: tuple[str, ...]) -> Ended:
        """Work until something ends it; returns what did.

        Raises:
            P2PError: the provider refuses the key or the request, or the disk is full.
        """
        self._caller = ToolCaller(client, self._ws, self._budget, self._show, self._moved, self._request.model)
        self._tools = await self._caller.open(allowed)
        try:
            while True:
                await self._turn()
        except Ended as ended:
            return ended

    async def _turn(self) -> None:
        self._hear()
        messages = self._conversation.messages
        max_tokens = self._budget.open_turn(estimate_tokens(self._system, self._tools, messages))
        self._tell(EventKind.TURN)
        answer = await self._claude.ask(Question(self._system, self._tools, messages, max_tokens), self)
        if answer.stop_reason == "refusal":
            self._refused(answer)
            return
        self._conversation.assistant(answer.content)
        self.last_words = text_of(answer.content) or self.last_words
        if answer.stop_reason == "max_tokens":
            self._cut(answer)
        elif answer.stop_reason == "model_context_window_exceeded":
            raise Ended(AgentEnding.PROBLEM, "The conversation has outgrown the model's context.")
        elif answer.stop_reason == "pause_turn":
            self._stumble("The model paused.")
        elif calls_of(answer.content):
            await self._work(answer)
        else:
            self._finish(answer)

    async def _work(self, answer: Answer) -> None:
        """Call the tools of an answer, in its order."""
        results = []
        for call in calls_of(answer.content):
            self._tell(EventKind.TOOL, _brief(call.name, call.arguments))
            result = await self._caller.call(call)
            self._tell(EventKind.RESULT, in_one_line(call.name, result))
            if not result["is_error"]:
                self._stumbles = 0
                if call.name in JUDGED:
                    self._conversation.forget_pictures()
            results.append(result)
        self._nudged = False
        left = briefing.what_is_left(self._request.limits, self._budget.spending)
        self._conversation.user([*results, *([text_block(left)] if left else [])])

    def _finish(self, answer: Answer) -> None:
        """The model calls no tool: it is done, or has to be reminded once."""
        if not answer.content:
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

    def _cut(self, answer: Answer) -> None:
        """The answer was too long: what it calls may be incomplete, so nothing of it is called."""
        self._stumble("The answer was cut off at its length limit.")
        calls = calls_of(answer.content)
        results = [tool_result(call.call_id, [text_block(briefing.CUT)], is_error=True) for call in calls]
        self._conversation.user(results or [text_block(briefing.GO_ON)])

    def _refused(self, answer: Answer) -> None:
        """A filter stopped the answer, which is left out; the model is told why, and asked to go on."""
        reason = f" ({answer.refusal})" if answer.refusal else ""
        self._stumble(f"The provider's filter refused the answer{reason}.", AgentEnding.REFUSED)
        self._conversation.say(briefing.REFUSED.format(reason=reason))

    def _stumble(self, what: str, ending: AgentEnding = AgentEnding.PROBLEM) -> None:
        self._stumbles += 1
        self.problem(what)
        if self._stumbles > PATIENCE:
            raise Ended(ending, f"{what} It happened {self._stumbles} times in a row.")

    def _hear(self) -> None:
        """Pass on the lines that a person typed."""
        for line in self._steering.take():
            self._conversation.say(briefing.wish(line))
            self._tell(EventKind.WISH, line)
            self._unkept.append(line)
        self._keep_wishes()

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

    def text(self, piece: str) -> None:
        """Show a piece of an answer."""
        self._tell(EventKind.TEXT, piece)

    def problem(self, what: str) -> None:
        """Show and write down what went wrong."""
        self._conversation.note(what)
        self._tell(EventKind.PROBLEM, what)

    def usage(self, usage: Usage) -> None:
        """Count what an answer used."""
        self._budget.charge(usage)


def _brief(name: str, arguments: dict[str, object]) -> str:
    """A call in one line."""
    parts = [f"{key}={_short(value)}" for key, value in arguments.items()]
    return f"{name}({', '.join(parts)})"


def _short(value: object) -> str:
    text = str(value)
    lines = text.count("\n") + 1
    if lines > 1:
        return f"<{lines} lines>"
    return text if len(text) <= 60 else f"{text[:57]}..."
