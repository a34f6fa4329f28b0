"""A walker learns to jump: held up at first, and less the more it succeeds; and not.

python examples/16_a_robot_that_is_held_up.py runs 1,2,3,4,5 500000
"""

import json
import sys

import p2p

RUNS_DIR = sys.argv[1] if len(sys.argv) > 1 else "runs"
SEEDS = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1]
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000

held: list[float] = []
for seed in SEEDS:
    for name, without in (("held up", {}), ("not held up", {"curriculum": None})):
        session = p2p.run(
            "jump",
            env="Walker2d-v5",
            seed=seed,
            runs_dir=RUNS_DIR,
            n_seeds=1,
            max_iterations=1,
            config={"total_timesteps": STEPS, **without},
        ).wait()
        verdict = session.judgment
        print(f"seed {seed}, {name}: {verdict.success_rate:.0%} of {verdict.n_rollouts}", flush=True)
        for metrics in session.path.rglob("scalars.jsonl"):
            rows = [json.loads(line) for line in metrics.read_text().splitlines()]
            held += [row["curriculum_assistance"] for row in rows if "curriculum_assistance" in row]

assert min(held) < held[0]  # by less of the weight, as episodes succeed
