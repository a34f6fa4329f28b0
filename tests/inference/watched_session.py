"""A session whose only iteration is really trained, in some seconds, and not judged yet."""

from pathlib import Path

from p2p.contracts.intent import Intent
from p2p.contracts.session import NewSession
from p2p.contracts.spending import Caps
from p2p.service.judging.report import run_report
from p2p.service.rewards.writing import write_reward
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.iteration import train
from p2p.service.workspace import Workspace
from p2p.settings import Settings

BALANCE = """
def reward_fn(obs, action, next_obs, info):
    \"\"\"
    LaTeX: r = e^{-10 x^2}
    Terms:
        upright: pole near vertical
    \"\"\"
    terms = {"upright": float(np.exp(-10.0 * next_obs[1] ** 2))}
    return terms["upright"], terms
"""
INTENT = Intent.model_validate(
    {
        "prompt": "keep the pole balanced",
        "env_id": "InvertedPendulum-v5",
        "criteria": [
            {
                "key": "upright",
                "title": "Pole upright",
                "description": "It leans by less than 0.2 rad for a tenth of the time.",
                "category": "posture",
                "predicate": {
                    "statistic": "fraction",
                    "where": [{"feature": "pole_angle", "comparison": "at_most", "threshold": 0.2}],
                    "comparison": "at_least",
                    "threshold": 0.1,
                    "unit": "1",
                    "margin": 0.05,
                },
            },
            {
                "key": "calm",
                "title": "Looks calm",
                "description": "No shaking.",
                "category": "posture",
                "predicate": None,
            },
        ],
        "episode_s": 2.0,
    }
)


def train_watched(runs_dir: Path) -> None:
    """Train the session "watched" below `runs_dir`."""
    ws = Workspace(Settings(runs_dir=runs_dir))
    request = NewSession(
        prompt=INTENT.prompt,
        env_id=INTENT.env_id,
        author="given",
        n_seeds=1,
        n_report_rollouts=10,
        config={"total_timesteps": 4_000, "num_evals": 2, "n_eval_episodes": 3},
        caps=Caps(dollars=None, tokens=10_000_000),
    )
    session_id = create_session(ws, request, reward=BALANCE, session_id="watched", intent=INTENT).session_id
    write_reward(ws, session_id, 1)
    train(ws, session_id, 1)
    run_report(ws, session_id, 1)
