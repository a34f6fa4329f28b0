"""Two policies held against each other by eyes, in both orders."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, Resolve, Sample
from mcp.types import CallToolResult, CreateMessageResult
from pydantic import Field

from p2p.contracts.judgment import Observation
from p2p.contracts.preference import Compared, ComparedPolicy, PairToCompare, Preference
from p2p.contracts.work import ViewCamera, ViewRequest
from p2p.service.judging.preferring import pair_to_compare, prefer, submit_preference
from p2p.service.workspace import Workspace
from p2p_mcp import sampling_pairs
from p2p_mcp.fields import IterationNumber, SessionId, argument
from p2p_mcp.tools.judging import asks_a_model
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.content import reply

WAIT_S = 20.0
"""For each picture that a client's model is asked about [s]: the client waits for both."""

Step = Annotated[int | None, Field(ge=0, description="Step of one of its checkpoints; null: what is judged.")]
Looks = Annotated[
    tuple[Compared, ...] | None,
    Field(
        min_length=2,
        max_length=2,
        description="What you saw in each picture, in their order, each as if it were the only one.",
    ),
]
Mode = Annotated[
    Literal["auto", "api", "client_sampling", "calling_agent"],
    Field(description="Who looks; auto: a model that can, else you."),
]


class PreferenceAnswer(Answer):
    """Which of the two is better, or what there is to look at."""

    preference: Preference | None
    """Null until somebody has looked."""
    pair: PairToCompare | None
    """The pictures of this result and how to compare; null where somebody has looked."""
    note: str
    """Why nobody else looked, where that was tried."""
    runs_dir: str
    """Paths are relative to it."""
    next_step: str


def _asking(place: int) -> Callable[..., Sample | None]:
    """What asks the client's model about one of the two pictures, which knows nothing of the other."""

    def ask(
        ws: Workspace,
        session_id: str,
        first: int,
        second: int,
        first_checkpoint: int | None,
        second_checkpoint: int | None,
        camera: ViewCamera,
        mode: str,
        looks: tuple[Compared, ...] | None,
        ctx: Context[Any, Any],
    ) -> Sample | None:
        capabilities = ctx.client_capabilities
        lends = capabilities is not None and capabilities.sampling is not None
        if not lends or looks is not None or mode not in ("auto", "client_sampling"):
            return None
        if asks_a_model(ws, session_id, mode, "compare_videos"):
            return None
        pair = _pair(first, second, first_checkpoint, second_checkpoint)
        shown = pair_to_compare(ws, session_id, pair, ViewRequest(camera=camera), WAIT_S)
        picture = ws.runs.path / shown.pictures[place]
        return Sample(sampling_pairs.question(shown, picture), max_tokens=sampling_pairs.MAX_TOKENS)

    return ask


ask_one = _asking(0)
ask_two = _asking(1)


def compare_videos(
    ws: Workspace,
    session_id: SessionId,
    first: IterationNumber,
    second: IterationNumber,
    one: Annotated[CreateMessageResult | None, Resolve(ask_one)],
    two: Annotated[CreateMessageResult | None, Resolve(ask_two)],
    first_checkpoint: Step = None,
    second_checkpoint: Step = None,
    camera: Annotated[ViewCamera, Field(description="Where from.")] = ViewCamera.TRACKING,
    mode: Mode = "auto",
    looks: Looks = None,
    model: Annotated[str | None, argument(Observation, "model", "Your model's name, for the record.")] = None,
) -> Annotated[CallToolResult, PreferenceAnswer]:
    """Have eyes say which of two close iterations or checkpoints does better what was asked.

    Where nobody else looks, two pictures come back to you, with the two changing places: look, then call it again
    with `looks`. An answer that depends on the order is a tie. No judgment changes.
    """
    pair = _pair(first, second, first_checkpoint, second_checkpoint)
    view = ViewRequest(camera=camera)
    if looks is not None:
        return _said(ws, submit_preference(ws, session_id, pair, (looks[0], looks[1]), view, model=model))
    if asks_a_model(ws, session_id, mode, "compare_videos"):
        return _said(ws, prefer(ws, session_id, *pair, view))
    said, note = sampling_pairs.read_both(one, two)
    if said is not None and one is not None:
        lent = (one.model or "")[:100] or None
        return _said(ws, submit_preference(ws, session_id, pair, said, view, "client_sampling", lent))
    if mode == "client_sampling" and not note:
        note = "This client lends no model: it declares no sampling capability."
    shown = pair_to_compare(ws, session_id, pair, view)
    answer = PreferenceAnswer(
        preference=None,
        pair=shown,
        note=note,
        runs_dir=str(ws.runs.path),
        next_step="Look at each picture by the rubric, then call compare_videos again with the same arguments and "
        'looks=[{"above": "...", "below": "...", "better": "above|below|same"}, {...}]',
    )
    return reply(answer, [ws.runs.path / path for path in shown.pictures])


def _pair(
    first: int, second: int, first_checkpoint: int | None, second_checkpoint: int | None
) -> tuple[ComparedPolicy, ComparedPolicy]:
    return (
        ComparedPolicy(iteration=first, checkpoint=first_checkpoint),
        ComparedPolicy(iteration=second, checkpoint=second_checkpoint),
    )


def _said(ws: Workspace, found: Preference) -> CallToolResult:
    better = f"{found.better} is better" if found.better is not None else "It is a tie"
    why = "" if found.agreed else ": the answer depended on which was shown above"
    last = f'compare_iterations(session_id="{found.session_id}", ...) says what differs.'
    answer = PreferenceAnswer(
        preference=found, pair=None, note="", runs_dir=str(ws.runs.path), next_step=f"{better}{why}. {last}"
    )
    return reply(answer)
