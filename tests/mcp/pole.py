"""A pole to be balanced: rewards, criteria, and a session that is trained in some seconds."""

from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from tool_caller import Caller

from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.server import build_server

GOOD = """\
class Balance(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        upright = np.exp(-10.0 * next_obs[1] ** 2)
        calm = -0.05 * np.sum(np.square(action))
        return upright + calm, {"upright": upright, "calm": calm}

    @property
    def latex(self):
        return "e^{-10 x^2}"

    @property
    def terms(self):
        return {"upright": "pole near vertical", "calm": "little force"}
"""
CALMER = GOOD.replace("-0.05", "-0.2")
EYES: dict[str, Any] = {
    "key": "calm",
    "title": "Looks calm",
    "description": "No shaking.",
    "category": "posture",
    "predicate": None,
}
HOLD: dict[str, Any] = {
    "key": "upright",
    "title": "Pole upright",
    "description": "The pole leans by less than 0.2 rad for a tenth of the time.",
    "category": "posture",
    "predicate": {
        "statistic": "fraction",
        "where": [{"feature": "pole_angle", "comparison": "at_most", "threshold": 0.2}],
        "comparison": "at_least",
        "threshold": 0.1,
        "unit": "1",
        "margin": 0.05,
    },
}
SESSION: dict[str, Any] = {
    "intent": "keep the pole balanced",
    "environment": "InvertedPendulum-v5",
    "n_seeds": 1,
    "criteria": [HOLD, EYES],
    "episode_s": 2.0,
    "config": {"num_evals": 2, "n_eval_episodes": 3},
}
STEPS = 4_000


async def train(runs_dir: Path) -> None:
    """Leave a runs directory with one session, whose first iteration is trained and not judged."""
    ws = Workspace(Settings(runs_dir=runs_dir))
    async with Client(build_server(ws)) as client:
        call = Caller(client)
        session_id: str = (await call("create_session", **SESSION))["session_id"]
        await call("write_reward", session_id=session_id, source=GOOD)
        await trained_by(call, session_id)


async def trained_by(call: Caller, session_id: str, **arguments: Any) -> dict[str, Any]:
    """The job of a training that has ended well."""
    job = await call("train_iteration", session_id=session_id, timesteps=STEPS, **arguments)
    with anyio.fail_after(180):
        while job["poll_after_s"] is not None:
            assert job["next_step"].startswith("get_job(")
            job = await call("get_job", job_id=job["job_id"], wait_seconds=45)
    assert job["state"] == "completed"
    assert job["step"] == job["total"] == STEPS
    return job
