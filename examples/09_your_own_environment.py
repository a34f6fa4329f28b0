"""An environment that p2p has never seen, described from its model, and a reward of one's own.

Any MuJoCo environment that Gymnasium knows by an id will do; here it is an old version of the swimmer. Two minutes.
"""

import sys

import p2p

ENVIRONMENT = "Swimmer-v4"
runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"

print("“move forward for 4 seconds” would be judged by:")  # in the features of this robot
for criterion in p2p.criteria("move forward for 4 seconds", env=ENVIRONMENT, runs_dir=runs_dir):
    print(" ", criterion.title, "-", criterion.description)

REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = v_x - 0.01 c
    Terms:
        speed: forward velocity
        effort: penalty for large actions
    """
    terms = {"speed": info["velocity_x"], "effort": -0.01 * info["control_effort"]}
    return sum(terms.values()), terms
'''
session = p2p.train(
    REWARD,
    prompt="move forward for 4 seconds",
    env=ENVIRONMENT,
    runs_dir=runs_dir,
    n_seeds=1,
    n_report_rollouts=10,
    config={"total_timesteps": 10_000, "gamma": 0.999},
).wait()
assert session.judgment is not None, session.error
print(session.judgment.diagnosis)
speed = session.judgment.criteria[0]
print("measured:", speed.value, speed.unit)
assert speed.value is not None
