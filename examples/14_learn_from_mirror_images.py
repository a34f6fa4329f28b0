"""A symmetric robot that learns from its rollouts and from their mirror images, and one that does not. Minutes a seed.

python examples/14_learn_from_mirror_images.py runs 1,2,3 100000
"""

import sys

import p2p

RUNS_DIR = sys.argv[1] if len(sys.argv) > 1 else "runs"
SEEDS = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1]
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
ENV, SENTENCE = sys.argv[4:6] if len(sys.argv) > 5 else ("Ant-v5", "walk forward")


def trained(seed, **config):
    """One training of the sentence, judged on 50 rollouts."""
    return p2p.run(
        SENTENCE,
        env=ENV,
        seed=seed,
        runs_dir=RUNS_DIR,
        n_seeds=1,
        max_iterations=1,
        stop_when_clear=False,
        config={"total_timesteps": STEPS, **config},
    ).wait()


for seed in SEEDS:
    mirrored = trained(seed, mirror=True)
    plain = trained(seed)
    for name, session in (("mirrored", mirrored), ("plain", plain)):
        verdict = session.judgment
        print(
            f"seed {seed}, {name}: {verdict.success_rate:.0%} of {verdict.n_rollouts} rollouts, "
            f"score {verdict.intent_score:.2f}",
            flush=True,
        )
assert mirrored.judgment.n_rollouts == plain.judgment.n_rollouts
