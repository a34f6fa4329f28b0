"""A sequence, learnt by a policy that is told how far it is, and by one that is not. Some minutes a seed.

python examples/12_what_a_policy_is_told.py runs 1,2,3 Walker2d-v5 "walk forward for 2 seconds, then stand still" 0
"""

import sys

import p2p

RUNS_DIR = sys.argv[1] if len(sys.argv) > 1 else "runs"
SEEDS = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1]
ENV, SENTENCE = sys.argv[3:5] if len(sys.argv) > 4 else ("HalfCheetah-v5", "walk slowly, then run")
STEPS = int(sys.argv[5]) if len(sys.argv) > 5 else 40_000
"""Steps of each training; 0: as many as the author of the reward asks for."""


def trained(seed, **config):
    """One training of the sentence, judged on 50 rollouts."""
    steps = {"total_timesteps": STEPS} if STEPS else {}
    return p2p.run(
        SENTENCE, env=ENV, seed=seed, runs_dir=RUNS_DIR, n_seeds=1, max_iterations=1, config=steps | config
    ).wait()


def in_words(session):
    """What the judge measured."""
    verdict = session.judgment
    return f"{verdict.success_rate:.0%} of {verdict.n_rollouts} rollouts, score {verdict.intent_score:.2f}"


for seed in SEEDS:
    told = trained(seed)  # the built-in author tells it, since the sentence has an order
    untold = trained(seed, observe=None)
    print(f"seed {seed}: told {told.policy.observed}: {in_words(told)}; told nothing: {in_words(untold)}", flush=True)
assert told.policy.observed
assert not untold.policy.observed
