"""Sessions that train in seconds, with a reward that is accepted without waiting for its check."""

from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import NewSession
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace

REWARD = """\
class Balance(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        upright = np.exp(-10.0 * next_obs[1] ** 2)
        return upright, {"upright": upright}

    @property
    def latex(self):
        return "e^{-10 x^2}"

    @property
    def terms(self):
        return {"upright": "pole near vertical"}
"""
FAILING = REWARD.replace("np.exp(-10.0 * next_obs[1] ** 2)", "np.log(0.1 - abs(next_obs[1]))")
"""Not a number once the pole leans by more than 0.1 rad."""
TINY = {"total_timesteps": 2_000, "num_evals": 1, "n_eval_episodes": 3}


def accepted_session(ws: Workspace, total_timesteps: int = 2_000, reward: str = REWARD) -> str:
    """Id of a session whose first reward waits to be trained."""
    request = NewSession(
        prompt="keep the pole balanced for 2 seconds",
        env_id="InvertedPendulum-v5",
        n_seeds=1,
        n_report_rollouts=10,
        max_iterations=1,
        config=TINY | {"total_timesteps": total_timesteps},
    )
    session_id = create_session(ws, request).session_id
    iteration = ws.record(session_id).iteration(1)
    iteration.save_draft(RewardDraft(source=reward, reasoning="handed in"))
    iteration.save_reward_report(RewardReport(spec=None))
    return session_id
