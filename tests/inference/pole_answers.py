"""What a model writes for the pole: a criterion, rewards good and bad, a revision."""

UP = {
    "key": "up",
    "title": "Keeps the pole up",
    "description": "The pole is upright nearly all the time.",
    "category": "stability",
    "predicate": {
        "statistic": "fraction",
        "where": [{"feature": "pole_angle", "comparison": "between", "threshold": -0.2, "upper": 0.2}],
        "comparison": "at_least",
        "threshold": 0.95,
        "unit": "1",
        "margin": 0.5,
    },
}
WRONG = """
import os

def reward_fn(obs, action, next_obs, info):
    return 1.0, {"alive": 1.0}
"""
FALLING = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = |\\\\theta|
    Terms:
        lean: how far it leans
    """
    terms = {"lean": min(1.0, abs(float(next_obs[1])))}
    return terms["lean"], terms
'''
UPRIGHT = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = 1 - |\\\\theta| - 0.1 |x|
    Terms:
        alive: one for each step
        lean: price of leaning
        off_centre: price of being away from the middle
    """
    terms = {"alive": 1.0, "lean": -abs(float(next_obs[1])), "off_centre": -0.1 * abs(float(next_obs[0]))}
    return sum(terms.values()), terms
'''
PLAN = {
    "diagnosis": "The pole lies: the reward pays for leaning.",
    "lesson": "Paying for the angle makes it fall.",
    "based_on": 1,
    "changes": [{"kind": "reward", "name": "lean", "what": "make it a price", "reason": "up is 0 % of the time"}],
    "config_changes": {"total_timesteps": 16384},
}
