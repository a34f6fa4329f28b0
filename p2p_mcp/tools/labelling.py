"""Labels: a person's scores of rollouts, held against the judges'."""

from typing import Annotated

from pydantic import Field

from p2p.contracts.judgment import Label, Labels
from p2p.service.judging import labelling
from p2p.service.workspace import Workspace
from p2p_mcp.fields import Iteration, SessionId, argument
from p2p_mcp.views.answer import Answer

Score = Annotated[float, argument(Label, "score", "The person's score: how much of what was meant is there.")]
Rollout = Annotated[str, Field(pattern="^(p10|median|p90)$", description="Which of the recorded rollouts was seen.")]
Annotator = Annotated[str, argument(Label, "annotator", "Name of the person who said so, never a model.")]


class LabelAnswer(Labels, Answer):
    """All labels of the session, and the judges' agreement with them."""

    next_step: str


def label_rollout(
    ws: Workspace,
    session_id: SessionId,
    score: Score,
    annotator: Annotator,
    rollout: Rollout = "median",
    iteration: Iteration = None,
    comment: Annotated[str, argument(Label, "comment", "What the person saw.")] = "",
) -> LabelAnswer:
    """Record what a person thinks of a judged rollout, and see how far the judges agree with people.

    For a score the user gave after looking at the video; your own opinion belongs into submit_judgment.
    No verdict changes. A later score of the same person replaces the earlier one.
    """
    labels = labelling.label_rollout(ws, session_id, score, annotator, rollout, iteration, comment)
    return LabelAnswer(
        **labels.model_dump(),
        next_step="Tell the user how far the judges agree; view_rollout shows another rollout to score.",
    )
