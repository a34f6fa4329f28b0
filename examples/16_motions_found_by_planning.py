"""A humanoid on its back is to stand up: episodes that begin in planned motions, and none that do. Two hours a seed.

python examples/16_motions_found_by_planning.py runs 1,2,3 10000000
"""

import json
import sys

import p2p

RUNS_DIR = sys.argv[1] if len(sys.argv) > 1 else "runs"
SEEDS = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1]
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000

for seed in SEEDS:
    for name, starts in (("planned", {}), ("not planned", {"start_states": None, "curriculum": None})):
        session = p2p.run(
            "stand up",
            env="HumanoidStandup-v5",
            seed=seed,
            runs_dir=RUNS_DIR,
            n_seeds=1,
            max_iterations=1,
            config={"total_timesteps": STEPS, **starts},
        ).wait()
        verdict = session.judgment
        print(f"seed {seed}, {name}: {verdict.success_rate:.0%} of {verdict.n_rollouts}", flush=True)
        for criterion in verdict.criteria:
            print(f"  {criterion.title}: {criterion.value:.2f}, needed {criterion.threshold:g}", flush=True)

found = json.loads(next(session.path.parent.rglob("planned_states.json")).read_text())
assert found["reached"] > 0  # motions that stood, before anything was learned
