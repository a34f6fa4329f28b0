"""The client's own model as eyes: what it is asked, and what is read in its reply."""

import json
from pathlib import Path
from typing import Any

from mcp.types import CreateMessageResult, SamplingMessage, TextContent

from p2p.contracts.judgment import Evidence, Observation
from p2p.service.wording import as_data
from p2p_mcp.model_replies import read_object, text_of
from p2p_mcp.views.content import picture_block

MAX_TOKENS = 1500
FORM = """\
Reply with one JSON object and nothing else:
{"is_what_was_meant": true or false, "score": a number from 0 to 1, "diagnosis": "what you saw, in time order, and what
is missing", "criteria": {criteria}, "failure_tags": ["snake_case", ...], "suspected_exploit": "how the numbers are met
without doing what was meant; empty if they are not"}"""
WHO = ("observer", "provider", "model", "scores", "pictures", "fps", "prompt_hash", "fallback")
"""Fields that the reply does not decide."""


def question(evidence: Evidence, sheet: Path) -> list[SamplingMessage]:
    """The contact sheet, the measurements, the rubric, and the form of the answer."""
    facts = {
        "measured": [score.model_dump(mode="json") for score in evidence.code.criteria],
        "rollout": [one.model_dump(mode="json") for one in evidence.numbers],
        "moments": [frame.model_dump(mode="json", exclude={"path"}) for frame in evidence.frames],
    }
    text = f"{evidence.rubric}\n\nMeasurements:\n{as_data(json.dumps(facts), 'measured')}\n\n{_form(evidence)}"
    return [SamplingMessage(role="user", content=[picture_block(sheet), TextContent(type="text", text=text)])]


def correction(evidence: Evidence, asked: list[SamplingMessage], reply: CreateMessageResult) -> list[SamplingMessage]:
    """The question once more, with what was wrong with the first reply."""
    problem = read(reply, evidence)
    words = TextContent(type="text", text=f"That could not be read: {problem} {_form(evidence)}")
    said = TextContent(type="text", text=text_of(reply)[:4000] or "(nothing)")
    return [*asked, SamplingMessage(role="assistant", content=said), SamplingMessage(role="user", content=words)]


def read(reply: CreateMessageResult, evidence: Evidence) -> Observation | str:
    """What the model saw; or in words why its reply cannot be taken."""

    def observation_of(said: dict[str, Any]) -> Observation:
        kept = {key: value for key, value in said.items() if key not in WHO}
        who = {"observer": "client_sampling", "model": (reply.model or "")[:100] or None}
        return Observation.model_validate({**kept, **who})

    observation = read_object(reply, observation_of)
    if isinstance(observation, str):
        return observation
    known = {criterion.key for criterion in evidence.criteria}
    if missing := [key for key in evidence.unjudged if key not in observation.criteria]:
        return f"criteria does not decide {', '.join(missing)}."
    if unknown := sorted(observation.criteria.keys() - known):
        return f"criteria decides {', '.join(unknown)}, and there is no such criterion."
    return observation


def _form(evidence: Evidence) -> str:
    keys = ", ".join(f'"{key}": true or false' for key in evidence.unjudged)
    return FORM.replace("{criteria}", f"{{{keys}}}")
