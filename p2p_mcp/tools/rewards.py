"""Rewards: written, tried on real transitions, and revised."""

from typing import Annotated, Any

from pydantic import Field

from p2p.contracts.brief import DraftReport, RevisionBrief
from p2p.contracts.errors import InvalidInput
from p2p.service.rewards.caller_revision import revise_session, revision_brief
from p2p.service.rewards.submission import check_reward_source, submit_reward
from p2p.service.workspace import Workspace
from p2p_mcp.fields import EnvironmentId, Iteration, SessionId
from p2p_mcp.views.rewards import CheckAnswer, RevisionAnswer, RewardAnswer, asked, checked, written

Source = Annotated[
    str,
    Field(min_length=1, max_length=65_536, description="Python text of one class that derives from RewardFunction."),
]
ConfigChanges = Annotated[
    dict[str, Any] | None,
    Field(description="Training configuration fields that this reward needs, such as gamma or ent_coef."),
]
Reasoning = Annotated[str, Field(max_length=4000, description="Why it is as it is; kept with the reward.")]


def write_reward(
    ws: Workspace,
    session_id: SessionId,
    source: Annotated[
        Source | None,
        Field(description="Your reward. null: the built-in author writes it, where it knows how."),
    ] = None,
    reasoning: Reasoning = "",
    config_changes: ConfigChanges = None,
) -> RewardAnswer:
    """Hand in the reward that is trained next, and have it checked on real transitions of the environment.

    Answers with its terms, formula, value ranges and warnings, or with the line that is wrong and the smallest fix:
    then call it again. A reward that is not accepted is never trained. `reward_rules` of create_session tell what it
    may import and read. To start from the built-in reward: call it without `source`, edit and hand in the `source` it
    answers with; its settings stay. Next: train_iteration.
    """
    draft = submit_reward(ws, session_id, source, reasoning, config_changes)
    return written(session_id, draft, ours=source is None)


def check_reward(
    ws: Workspace,
    source: Source,
    session_id: Annotated[SessionId | None, Field(description="Whose environment; or give `environment`.")] = None,
    environment: Annotated[EnvironmentId | None, Field(description="Gymnasium id, without a session.")] = None,
    probe: Annotated[bool, Field(description="Also train it for some seconds, and return what was learnt.")] = False,
) -> CheckAnswer:
    """Try a reward on real transitions without keeping it. write_reward does the same and keeps it."""
    place = session_id or environment
    if place is None:
        raise InvalidInput("Give session_id or environment: a reward is tried on transitions of one environment.")
    return checked(check_reward_source(ws, place, source, probe=probe), session_id)


def revise_reward(
    ws: Workspace,
    session_id: SessionId,
    source: Annotated[
        Source | None, Field(description="The next reward; null returns what its writer has to know.")
    ] = None,
    reasoning: Annotated[str, Field(max_length=4000, description="What went wrong, and what this changes.")] = "",
    lesson: Annotated[str, Field(max_length=1000, description="What the judged iteration taught.")] = "",
    config_changes: ConfigChanges = None,
    based_on: Annotated[
        int | None, Field(ge=1, le=1000, description="Iteration whose reward you changed; null: found out.")
    ] = None,
    iteration: Iteration = None,
    built_in_author: Annotated[
        bool, Field(description="Have the built-in author write the next reward instead of you.")
    ] = False,
) -> RevisionAnswer:
    """Get the diagnosis, term statistics and earlier attempts of a judged iteration; or hand in the next reward.

    Call it without `source` first, change one idea at a time, then call it again with `source` and `reasoning`.
    Next: train_iteration.
    """
    if source is None and not built_in_author:
        return asked(revision_brief(ws, session_id, iteration))
    if source is None:
        return _revised(session_id, submit_reward(ws, session_id), ours=True)
    done = revise_session(
        ws,
        session_id,
        source,
        reasoning=reasoning,
        lesson=lesson,
        config_changes=config_changes,
        based_on=based_on,
    )
    return _revised(session_id, done, ours=False)


def _revised(session_id: str, done: DraftReport | RevisionBrief, *, ours: bool) -> RevisionAnswer:
    if isinstance(done, RevisionBrief):
        return asked(done)
    reward = written(session_id, done, ours=ours)
    return RevisionAnswer(brief=None, reward=reward, next_step=reward.next_step)
