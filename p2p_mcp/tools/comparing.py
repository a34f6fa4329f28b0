"""Two policies held against each other by eyes, in both orders."""

from typing import Annotated, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.preference import Candidate, Compared, PairToCompare, Preference
from p2p.contracts.work import ViewCamera, ViewRequest
from p2p.service import Service
from p2p_mcp.fields import IterationNumber, SessionId
from p2p_mcp.toolbox import WRITES, Toolbox
from p2p_mcp.views.content import reply

TOOLSET = "judging"

Step = Annotated[int | None, Field(ge=0, description="Step of one of its checkpoints; null: what is judged.")]
Looks = Annotated[
    tuple[Compared, ...] | None,
    Field(
        min_length=2,
        max_length=2,
        description="What you saw in each picture, in their order, each as if it were the only one.",
    ),
]


class ComparisonAnswer(Contract):
    """Which of the two is better, or what there is to look at."""

    preference: Preference | None
    """Null until somebody has looked."""
    pair: PairToCompare | None
    """The pictures of this result and how to compare; null where somebody has looked."""
    runs_dir: str
    """Paths are relative to it."""
    next_step: str


def add(toolbox: Toolbox) -> None:
    """Offer it."""
    service = toolbox.service

    def compare_videos(  # noqa: PLR0913  one parameter per choice
        session_id: SessionId,
        first: IterationNumber,
        second: IterationNumber,
        first_checkpoint: Step = None,
        second_checkpoint: Step = None,
        camera: Annotated[ViewCamera, Field(description="Where from.")] = ViewCamera.TRACKING,
        mode: Annotated[
            Literal["auto", "api", "calling_agent"],
            Field(description="Who looks; auto: the session's judge_model, and else you."),
        ] = "auto",
        looks: Looks = None,
        model: Annotated[str | None, Field(max_length=100, description="Your model's name, for the record.")] = None,
    ) -> Annotated[CallToolResult, ComparisonAnswer]:
        """Have eyes say which of two close iterations or checkpoints does better what was asked.

        Where nobody else looks, two pictures come back to you, with the two changing places: look, then call it again
        with `looks`. An answer that depends on the order is a tie. No judgment changes.
        """
        pair = (
            Candidate(iteration=first, checkpoint=first_checkpoint),
            Candidate(iteration=second, checkpoint=second_checkpoint),
        )
        view = ViewRequest(camera=camera)
        if looks is not None:
            return _said(service, service.submit_preference(session_id, *pair, (looks[0], looks[1]), view, model))
        if _asks_a_model(service, session_id, mode):
            return _said(service, service.prefer(session_id, *pair, view))
        shown = service.pair_to_compare(session_id, *pair, view)
        answer = ComparisonAnswer(
            preference=None,
            pair=shown,
            runs_dir=str(service.runs.path),
            next_step="Look at each picture by the rubric, then call compare_videos again with the same arguments and "
            'looks=[{"above": "...", "below": "...", "better": "above|below|same"}, {...}]',
        )
        return reply(answer, [service.runs.path / path for path in shown.pictures])

    toolbox.add(compare_videos, "Compare videos", TOOLSET, WRITES)


def _asks_a_model(service: Service, session_id: str, mode: str) -> bool:
    """Whether p2p itself asks a model.

    Raises:
        ToolError: it is told to, and no model is configured.
    """
    if mode == "api" and not service.eyes_of(session_id):
        raise ToolError(
            "No provider is configured that could look at pictures. Call compare_videos with mode='calling_agent', "
            "and look at them yourself."
        )
    return mode == "api" or (mode == "auto" and bool(service.view_session(session_id).session.judge_model))


def _said(service: Service, found: Preference) -> CallToolResult:
    better = f"{found.better} is better" if found.better is not None else "It is a tie"
    why = "" if found.agreed else ": the answer depended on which was shown above"
    last = f'compare_iterations(session_id="{found.session_id}", ...) says what differs.'
    return reply(
        ComparisonAnswer(
            preference=found, pair=None, runs_dir=str(service.runs.path), next_step=f"{better}{why}. {last}"
        )
    )
