"""Judge functions: written by the caller for what predicates cannot say."""

from typing import Annotated

from pydantic import Field

from p2p.contracts.intent import Key
from p2p.contracts.judgment import JudgeCodeReport, JudgeCodeTask
from p2p.service.judging.caller_code import judge_code_task, submit_judge_code
from p2p.service.workspace import Workspace
from p2p_mcp.fields import SessionId
from p2p_mcp.views.answer import Answer

Source = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=40_000,
        description='Python with judge(features) -> {"score", "evidence"}; null returns the rules.',
    ),
]


class JudgeCodeAnswer(Answer):
    """What the writer of a judge function has to know, or what came of the one that was handed in."""

    task: JudgeCodeTask | None
    report: JudgeCodeReport | None
    next_step: str


def write_judge_code(
    ws: Workspace,
    session_id: SessionId,
    criterion: Annotated[Key | None, Field(description="Key of the criterion it measures.")] = None,
    source: Source = None,
    reasoning: Annotated[str, Field(max_length=2000, description="How it measures, for the record.")] = "",
    model: Annotated[str, Field(max_length=100, description="Your model's name, for the record.")] = "",
) -> JudgeCodeAnswer:
    """Write the function that one criterion without a predicate is judged by, where eyes are a poor judge of it.

    Call it without `source` first. Then it is gated and tried on known motions, confined; errors come with line
    and fix, and are no verdict. From then on judge_videos measures by it. Settled by the first judgment.
    """
    if source is None or criterion is None:
        task = judge_code_task(ws, session_id)
        keys = "|".join(each.key for each in task.to_measure)
        step = f'write_judge_code(session_id="{task.session_id}", criterion="{keys}", source="...", reasoning="...")'
        if not keys:
            step = "Every criterion is measured by its predicate: there is nothing to write."
        return JudgeCodeAnswer(task=task, report=None, next_step=step)
    report = submit_judge_code(ws, session_id, criterion, source, reasoning, model)
    if not report.accepted:
        step = "Correct what `errors` name, and hand it in again: nothing is judged with it."
        return JudgeCodeAnswer(task=None, report=report, next_step=step)
    step = f'Then get_session(session_id="{report.session_id}") says what is next; judge_videos measures by it.'
    if report.known_motions:
        step = f"Look at what it scores highest in `known_motions`: is that what was meant? {step}"
    return JudgeCodeAnswer(task=None, report=report, next_step=step)
