"""A reward of one's own is checked, trained once, and judged by a sentence. Under two minutes on two cores."""

import sys

import p2p


def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = v_x - 0.1 c
    Terms:
        speed: forward velocity
        effort: penalty for large actions
    """
    terms = {"speed": info["velocity_x"], "effort": -0.1 * info["control_effort"]}
    return sum(terms.values()), terms


session = p2p.train(
    reward_fn,
    prompt="move forward slowly for 4 seconds",
    env="HalfCheetah-v5",
    runs_dir=sys.argv[1] if len(sys.argv) > 1 else "runs",
    config={"total_timesteps": 30_000},
    n_seeds=1,
    n_report_rollouts=10,
).wait()

(iteration,) = session.iterations
assert iteration.reward_report is not None
print("terms:", {term.name: round(term.mean, 3) for term in iteration.reward_report.terms})
assert session.judgment is not None, session.error
print(session.judgment.diagnosis)  # this reward asks for speed and not for slowness: the judge says so

again = p2p.judge(session, "move forward for 4 seconds")
print(again.diagnosis)  # other criteria, the same rollouts: nothing is simulated again
assert again.criteria[0].value == session.judgment.criteria[0].value
