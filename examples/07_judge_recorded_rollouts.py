"""A trained policy is judged by other sentences, and acts in an environment of one's own. Two minutes on two cores."""

import sys

import gymnasium

import p2p

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
session = p2p.run(
    "keep the pole balanced for 2 seconds",
    env="InvertedPendulum-v5",
    n_seeds=1,
    n_report_rollouts=10,
    runs_dir=runs_dir,
).wait()

for sentence in ("keep the pole balanced for 2 seconds", "keep the pole up smoothly for 2 seconds"):
    judgment = p2p.judge(session, sentence)
    print(sentence, "->", judgment.verdict, f"{judgment.success_rate:.0%}")

environment = gymnasium.make("InvertedPendulum-v5")
observation, _ = environment.reset(seed=1)
steps, terminated = 0, False
while not terminated and steps < 50:
    observation, _, terminated, _, _ = environment.step(session.policy(observation))
    steps += 1
print("balanced for", steps, "steps of an episode that nobody judged")
assert not terminated
