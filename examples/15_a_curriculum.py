"""A training whose fines, episodes and pushes grow, and one in which they are there from the start. Minutes a seed.

python examples/15_a_curriculum.py runs 1,2,3 100000
"""

import json
import sys

import p2p

RUNS_DIR = sys.argv[1] if len(sys.argv) > 1 else "runs"
SEEDS = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1]
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
GROWING = {
    "weights": {"effort": [[0.0, 0.1], [0.6, 1.0]]},  # a tenth of the fine at first, all of it after 60 % of the steps
    "episodes": {"start_s": 1.0, "until": 0.4},
    "pushes": {"speed": 0.5, "until": 0.8},  # at 80 % of the steps they change the robot's speed by 0.5 m/s
}


def trained(seed, **config):
    """One training of the sentence, judged on 50 rollouts, which know of no curriculum."""
    return p2p.run(
        "run forward",
        env="HalfCheetah-v5",
        seed=seed,
        runs_dir=RUNS_DIR,
        n_seeds=1,
        max_iterations=1,
        config={"total_timesteps": STEPS, **config},
    ).wait()


for seed in SEEDS:
    growing = trained(seed, curriculum=GROWING)
    constant = trained(seed, curriculum={"pushes": {"speed": 0.5, "speed_start": 0.5}})
    for name, session in (("growing", growing), ("constant", constant)):
        verdict = session.judgment
        print(
            f"seed {seed}, {name}: {verdict.success_rate:.0%} of {verdict.n_rollouts}, score {verdict.intent_score:.2f}"
        )

rows = [json.loads(line) for line in next(growing.path.rglob("scalars.jsonl")).read_text().splitlines()]
pushes = [row["curriculum_push_speed"] for row in rows if "curriculum_push_speed" in row]
assert pushes == sorted(pushes)
assert pushes[0] == 0.0 < pushes[-1] <= 0.5
