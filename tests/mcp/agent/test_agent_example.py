"""The example of the bundled agent, against a scripted Claude and a real training."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_runs import KEY
from scripted_claude import ScriptedClaude, Turn, calls, found, says
from shared_sessions import BALANCE

EXAMPLE = Path(__file__).parents[3] / "examples" / "04_claude_agent.py"
REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = 1 - |x|
    Terms:
        alive: one for each step
        middle: price of leaving it
    """
    terms = {"alive": 1.0, "middle": -abs(float(next_obs[0]))}
    return sum(terms.values()), terms
'''


def on_session(tool: str, **arguments: Any) -> Any:
    """Call a tool on the session that was created."""

    def step(body: dict[str, Any]) -> Turn:
        return calls(tool, session_id=found(body, "session_id"), **arguments)

    return step


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("pictures")
def test_the_example_of_the_agent_runs_to_its_assertion(tmp_path: Path) -> None:
    settings = {"total_timesteps": 4096, "num_evals": 1, "n_eval_episodes": 3}
    script = [
        calls(
            "create_session",
            intent=BALANCE,
            environment="InvertedPendulum-v5",
            n_seeds=1,
            config=settings,
        ),
        on_session("write_reward", source=REWARD, reasoning="The middle is asked for."),
        on_session("train_iteration"),
        on_session("judge_videos"),
        on_session(
            "submit_judgment", is_what_was_meant=False, score=0.3, diagnosis="It falls.", failure_tags=["falls"]
        ),
        says("It falls after a second; that is all I tried."),
    ]
    with ScriptedClaude(script).serving() as claude:
        env = {**os.environ, "ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": KEY, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(EXAMPLE), str(tmp_path / "runs")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "middle: price of leaving it" in done.stdout
