"""A pole to be balanced: rewards, criteria, and a session that is trained in some seconds."""

from typing import Any

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
    "config": {"num_evals": 2, "n_eval_episodes": 3},
}
STEPS = 4_000
