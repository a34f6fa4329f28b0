"""Judging: what code measured, and what somebody saw in the pictures."""

from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, CreateMessageResult
from pydantic import Field

from p2p.contracts.intent import Key
from p2p.contracts.judgment import Evidence, Judgment, Observation, Tag
from p2p.contracts.training import CheckpointChoice
from p2p.service.judging import caller_judgment
from p2p.service.judging.by_eyes import judge_by_model
from p2p.service.judging.caller_judgment import judge_evidence
from p2p.service.judging.choosing import choice_evidence, choose_checkpoint, open_choice
from p2p.service.judging.eyes import eyes_of
from p2p.service.progress.advising import advice_on
from p2p.service.progress.details import view_iteration
from p2p.service.progress.session_view import view_session
from p2p.service.workspace import Workspace
from p2p_mcp import sampling
from p2p_mcp.fields import Iteration, SessionId, argument
from p2p_mcp.views.content import fitting, reply
from p2p_mcp.views.evidence import EvidenceAnswer, JudgmentAnswer, after_judging, choose, facts, look, pictures_of

Mode = Annotated[
    Literal["auto", "api", "client_sampling", "calling_agent"],
    Field(description="Who looks at the pictures; auto: a model that can, else you."),
]
Detail = Annotated[
    Literal["sheet", "frames", "none"],
    Field(description="sheet: one picture of eight moments; frames: single moments besides; none: numbers alone."),
]
Exploit = Annotated[
    str, argument(Observation, "suspected_exploit", "How the numbers are met without doing what was meant.")
]
Chosen = Annotated[
    str | None, Field(description="Of `to_choose`: this one is reported on and judged. Once, before it is judged.")
]
MaxFrames = Annotated[int, Field(ge=1, le=12, description="Single moments shown at most.")]


def ask_client_model(
    ws: Workspace, session_id: str, iteration: int | None, mode: str, ctx: Context[Any, Any]
) -> Sample | None:
    """Ask the client's model, where there is one and it may be asked."""
    capabilities = ctx.client_capabilities
    if mode not in ("auto", "client_sampling") or capabilities is None or capabilities.sampling is None:
        return None
    if asks_a_model(ws, session_id, mode, "judge_videos"):
        return None
    evidence = judge_evidence(ws, session_id, iteration)
    if not evidence.contact_sheet or _by_somebody_before(ws, evidence) is not None:
        return None
    return Sample(sampling.question(evidence, _sheet(ws, evidence)), max_tokens=sampling.MAX_TOKENS)


def ask_client_model_again(
    ws: Workspace,
    session_id: str,
    iteration: int | None,
    first: Annotated[CreateMessageResult | None, Resolve(ask_client_model)],
) -> Sample | None:
    """Ask once more, where the first reply cannot be taken."""
    if first is None:
        return None
    evidence = judge_evidence(ws, session_id, iteration)
    if isinstance(sampling.read(first, evidence), Observation):
        return None
    asked = sampling.question(evidence, _sheet(ws, evidence))
    return Sample(sampling.correction(evidence, asked, first), max_tokens=sampling.MAX_TOKENS)


def judge_videos(
    ws: Workspace,
    session_id: SessionId,
    first: Annotated[CreateMessageResult | None, Resolve(ask_client_model)],
    second: Annotated[CreateMessageResult | None, Resolve(ask_client_model_again)],
    iteration: Iteration = None,
    mode: Mode = "auto",
    detail: Detail = "sheet",
    max_frames: MaxFrames = 6,
    checkpoint: Chosen = None,
) -> Annotated[CallToolResult, EvidenceAnswer]:
    """Measure the judged rollouts of a trained iteration, and have their pictures looked at.

    Where nobody else can look, they come back to you with the rubric: look at them, then call submit_judgment.
    A session passes only by what code measured and what eyes saw together.
    """
    asks = asks_a_model(ws, session_id, mode, "judge_videos")
    evidence = judge_evidence(ws, session_id, iteration)
    if checkpoint is not None:
        choose_checkpoint(ws, session_id, evidence.iteration, CheckpointChoice.parse(checkpoint))
        evidence = judge_evidence(ws, session_id, evidence.iteration)
    elif first is None and not asks and (offered := open_choice(ws, session_id, evidence.iteration)):
        return _to_choose(ws, evidence, offered, detail)
    if asks and (mode == "api" or _by_somebody_before(ws, evidence) is None):
        judge_by_model(ws, session_id, evidence.iteration)
    judgment, note = _by_sampling(ws, evidence, [one for one in (first, second) if one is not None])
    if judgment is None and mode != "calling_agent":
        judgment = _by_somebody_before(ws, evidence)
    if mode == "client_sampling" and first is None:
        note = "This client lends no model (it declares no sampling capability), or there is no picture to show."
    pictures = [] if judgment is not None else pictures_of(evidence, ws.runs.path, detail, max_frames)
    return reply(_answer(ws, evidence, judgment, note, pictures), pictures)


def _to_choose(ws: Workspace, evidence: Evidence, offered: tuple[CheckpointChoice, ...], detail: str) -> CallToolResult:
    """The checkpoints to choose among, by their selection rollouts: the report rollouts choose nothing."""
    session_id, number = evidence.session_id, evidence.iteration
    seen = [choice_evidence(ws, session_id, number, choice) for choice in offered]
    pictures = [] if detail == "none" else [_sheet(ws, one) for one in seen]
    answer = _answer(ws, seen[0], None, "", pictures)
    to_choose = tuple(map(str, offered))
    return reply(
        answer.model_copy(update={"to_choose": to_choose, "next_step": choose(session_id, number, to_choose)}),
        pictures,
    )


def asks_a_model(ws: Workspace, session_id: str, mode: str, tool: str) -> bool:
    """Whether p2p itself asks a model to look: when told to, and of itself where the session names one for it.

    Args:
        ws: Knows the session.
        session_id: Whose pictures they are.
        mode: Who is to look.
        tool: Which tool its caller can call to look itself.

    Raises:
        ToolError: it is told to, and no model is configured.
    """
    if mode == "api" and not eyes_of(ws, session_id):
        raise ToolError(
            f"No provider is configured that could look at pictures. Call {tool} with mode='calling_agent', "
            "and look at them yourself."
        )
    return mode == "api" or (mode == "auto" and bool(view_session(ws, session_id).session.judge_model))


def submit_judgment(
    ws: Workspace,
    session_id: SessionId,
    is_what_was_meant: Annotated[bool, Field(description="Would the person who asked be content with it?")],
    score: Annotated[float, argument(Observation, "score", "How much of what was meant is there.")],
    diagnosis: Annotated[str, argument(Observation, "diagnosis", "What you saw, in time order, and what is missing.")],
    criteria: Annotated[
        dict[Key, bool] | None,
        Field(description="Met or not, by key: at least those of `only_eyes_can_judge`."),
    ] = None,
    failure_tags: Annotated[tuple[Tag, ...], argument(Observation, "failure_tags", "In snake_case.")] = (),
    suspected_exploit: Exploit = "",
    model: Annotated[str | None, argument(Observation, "model", "Your model's name, for the record.")] = None,
    iteration: Iteration = None,
) -> JudgmentAnswer:
    """Say what you saw in the pictures of judge_videos; together with the measurements that is the judgment.

    Measured criteria stay as measured. Passed: the session ends. Not passed: revise_reward.
    """
    observation = Observation(
        is_what_was_meant=is_what_was_meant,
        score=score,
        diagnosis=diagnosis,
        criteria=criteria or {},
        failure_tags=failure_tags,
        suspected_exploit=suspected_exploit,
        model=model,
    )
    number = judge_evidence(ws, session_id, iteration).iteration
    judgment = caller_judgment.submit_judgment(ws, session_id, number, observation)
    return JudgmentAnswer(
        session_id=session_id,
        iteration=number,
        judgment=facts(judgment),
        observation=judgment.observation,
        passed=judgment.passed,
        uri=f"p2p://sessions/{session_id}/iterations/{number}/judgment",
        next_step=after_judging(session_id, judgment, advice_on(ws.record(session_id), number)),
    )


def _sheet(ws: Workspace, evidence: Evidence) -> Path:
    assert evidence.contact_sheet is not None, "nobody is asked to look at nothing"
    return ws.runs.path / evidence.contact_sheet


def _by_sampling(ws: Workspace, evidence: Evidence, replies: list[CreateMessageResult]) -> tuple[Judgment | None, str]:
    """The judgment with the client's model; or in words why there is none."""
    problem: object = ""
    for one in replies:
        problem = sampling.read(one, evidence)
        if isinstance(problem, Observation):
            return caller_judgment.submit_judgment(ws, evidence.session_id, evidence.iteration, problem), ""
    if replies:
        return None, f"The client's model was asked {len(replies)} times, and its reply could not be read: {problem}"
    return None, ""


def _by_somebody_before(ws: Workspace, evidence: Evidence) -> Judgment | None:
    """The judgment that is kept already, where eyes took part in it."""
    known = view_iteration(ws, evidence.session_id, evidence.iteration).judgment
    return known if known is not None and known.observation is not None else None


def _answer(
    ws: Workspace, evidence: Evidence, judgment: Judgment | None, note: str, pictures: list[Path]
) -> EvidenceAnswer:
    runs_dir = ws.runs.path
    root = f"p2p://sessions/{evidence.session_id}/iterations/{evidence.iteration}"
    seen = judgment.observation if judgment is not None else None
    return EvidenceAnswer(
        session_id=evidence.session_id,
        iteration=evidence.iteration,
        intent=evidence.prompt,
        judged_by=seen.observer if seen is not None else "calling_agent",
        judgment=facts(judgment) if judgment is not None else None,
        note=note,
        code=facts(evidence.code),
        criteria=evidence.criteria,
        only_eyes_can_judge=evidence.unjudged,
        rubric=evidence.rubric,
        shown=evidence.shown,
        duration_s=evidence.duration_s,
        frames=evidence.frames,
        pictures=tuple(str(path.relative_to(runs_dir)) for path in fitting(pictures)),
        picture_note=evidence.picture_note,
        numbers=evidence.numbers,
        videos={label: f"{root}/videos/{Path(path).name}" for label, path in evidence.videos.items()},
        runs_dir=str(runs_dir),
        next_step=look(evidence)
        if judgment is None
        else after_judging(
            evidence.session_id, judgment, advice_on(ws.record(evidence.session_id), evidence.iteration)
        ),
    )
