"""A suite run with a language model through its vendor's library: who is paid for what, and what the model is told."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pole_answers import UP, UPRIGHT
from wire_stub import CANARY, Stub, answers, files_with

import p2p
from p2p.contracts.intent import Criterion, Intent
from p2p.contracts.suite import RunState
from p2p.service.models.session_models import costs
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.suite_files import save_exam

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
SECRET = "Words-of-the-exam"
SENTENCES = {"pole": "keep it up", "pendulum": "let neither of them fall"}
ROBOTS = {"pole": "InvertedPendulum-v5", "pendulum": "InvertedDoublePendulum-v5"}
ROLES = ("intent_elicitor", "reward_author", "code_review")
CALL_DOLLARS = (100 * 4 + 20 * 20) / 1e6
"""Of the stub's replies: 100 tokens read, at $4 a million, and 20 written, at $20."""
SUITE = """
[suite]
name = "upright"
seeds = [1]
exams = "exams"
n_exam_rollouts = 10
[budget]
max_iterations = 1
total_timesteps = 2048
"""


def suite_in(place: Path) -> Path:
    """File of a suite of two cases, with its exams beside it."""
    text = SUITE
    for case, sentence in SENTENCES.items():
        text += f'[[case]]\nname = "{case}"\nenv_id = "{ROBOTS[case]}"\nprompt = "{sentence}"\n'
        criteria = (Criterion.model_validate(UP | {"title": SECRET, "description": SECRET}),)
        intent = Intent(prompt=sentence, env_id=ROBOTS[case], episode_s=2.0, criteria=criteria)
        save_exam(place / "exams" / f"{case}.json", intent)
    file = place / "upright.toml"
    file.write_text(text)
    return file


def test_a_suite_measures_a_model_and_tells_its_price_by_role(serve: Callable[..., Stub], tmp_path: Path) -> None:
    stub = serve(
        by_prompt={
            "You turn one sentence": [answers({"criteria": [UP], "episode_s": 2.0})] * 2,
            "You write reward functions": [answers({"source": UPRIGHT, "reasoning": "up"})] * 2,
            "You review a reward": [answers({"approved": True, "reasoning": "fine"})] * 2,
        }
    )
    run = p2p.run_benchmark(
        suite_in(tmp_path),
        model="anthropic:claude-opus-5-5",
        n_seeds=1,
        n_report_rollouts=10,
        config={"num_evals": 1, "n_eval_episodes": 3},
        runs_dir=tmp_path / "runs",
    ).wait()
    assert run.name == "upright-claude-opus"
    assert run.view.state is RunState.ENDED
    assert [result.case for result in run.results] == list(SENTENCES)
    ws = Workspace(Settings(runs_dir=run.runs_dir))
    for result in run.results:
        assert result.exam is not None, result.error
        assert result.exam.n_rollouts == 10
        assert result.dollars == pytest.approx(dict.fromkeys(ROLES, CALL_DOLLARS))
        assert result.dollars_by_model == pytest.approx({"anthropic:claude-opus-5-5": 3 * CALL_DOLLARS})
        assert costs(ws, result.session_id).total.dollars == pytest.approx(3 * CALL_DOLLARS)
    assert sum(run.view.dollars.values()) == pytest.approx(6 * CALL_DOLLARS)
    assert stub.remaining() == 0
    assert {seen.provider for seen in stub.seen} == {"anthropic"}
    assert not any(SECRET in seen.text for seen in stub.seen)
    assert not files_with(CANARY, run.runs_dir)
    assert not files_with(CANARY, run.export())
