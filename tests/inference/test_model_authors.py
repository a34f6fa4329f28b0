"""Whole sessions whose rewards a scripted model writes, with real trainings, over the real libraries."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pole_answers import FALLING, PLAN, UP, UPRIGHT, WRONG
from shared_sessions import BALANCE
from wire_stub import CANARY, Fault, Stub, answers, calls, files_with

from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.contracts.spending import Caps
from p2p.service.models.session_models import costs
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.session.run_session import drive
from p2p.settings import Settings

MODELS = ("anthropic:claude-of-a-test", "gemini:gemini-of-a-test", "openai:gpt-of-a-test")


def script(n_configs: int) -> Mapping[str, Any]:
    """What each role answers."""
    variants = answers({"variants": [{"directive": "another_way", "config_changes": {"gae_lambda": 0.9}}]})
    return {
        "You choose hyperparameters": [variants] * (n_configs - 1),
        "You turn one sentence": [answers({"criteria": [UP], "episode_s": 5.0})],
        "You write reward functions": [
            Fault.OVERLOADED,
            answers({"source": WRONG, "reasoning": "alive", "config_changes": {"total_timesteps": 10_000}}),
            answers({"source": FALLING, "reasoning": "mended"}),
        ],
        "You review a reward": [answers({"approved": True, "reasoning": "fine"})] * 3,
        "You improve a reward": [
            calls("get_iteration_scores"),
            calls("get_iteration_reward_code", iteration=1),
            calls("get_iteration_reward_code", iteration=7),
            answers({**PLAN, "based_on": 4}),
            answers(PLAN),
            answers({"source": UPRIGHT}),
        ],
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "n_configs"),
    [
        pytest.param(MODELS[0], 1, id=MODELS[0]),
        pytest.param(MODELS[0], 2, id="two configurations", marks=pytest.mark.nightly),
        *(pytest.param(model, 1, id=model, marks=pytest.mark.nightly) for model in MODELS[1:]),
    ],
)
def test_a_model_writes_mends_and_revises_until_it_passes(
    model: str, n_configs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = Stub(by_prompt=script(n_configs), repeat_last=False)
    with stub.serving():
        for name, value in stub.environment().items():
            monkeypatch.setenv(name, value)
        ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
        request = NewSession(
            prompt=BALANCE,
            env_id="InvertedPendulum-v5",
            author=model,
            n_seeds=1,
            n_configs=n_configs,
            max_iterations=2,
            n_report_rollouts=10,
            config={"num_evals": 1, "n_eval_episodes": 3},
            caps=Caps(dollars=None, tokens=10_000_000),
        )
        session_id = create_session(ws, request).session_id
        code = drive(ws, session_id)
    record = ws.record(session_id)
    status = record.read_status()
    assert status is not None
    assert (code, status.status) == (0, SessionStatus.PASSED), status.error
    assert stub.remaining() == 1  # of the reviews
    first, second = (record.iteration(number) for number in (1, 2))
    assert first.read_draft().source == FALLING
    assert second.read_draft().source == UPRIGHT
    assert second.read_draft().config_changes["total_timesteps"] == 16384
    assert [run.config_id for run in first.runs()] == ["baseline", "fast"][:n_configs]
    *_, tried = record.read_lineage().iterations.values()
    assert list(tried.configs) == ["baseline", "another_way"][:n_configs]
    assert [use.hyperparameters["gae_lambda"] for use in tried.configs.values()] == [0.95, 0.9][:n_configs]
    revision = first.read_revision()
    assert [change.name for change in revision.changes] == ["lean", "total_timesteps"]
    assert (revision.based_on, revision.lesson) == (1, "Paying for the angle makes it fall.")
    refused = [event for event in record.events.read() if event.event is EventName.REWARD_ERROR]
    assert any("os" in str(event.data["errors"]) for event in refused)
    roles = {row.role for row in costs(ws, session_id).rows}
    assert roles == {"intent_elicitor", "reward_author", "code_review", "revise_agent"}
    assert not files_with(CANARY, tmp_path)
