"""Steps until a cheetah runs fast: from zero, and from the policy of one that runs slowly. A minute or two a seed."""

import json
import sys

import p2p

RUNS_DIR = sys.argv[1] if len(sys.argv) > 1 else "runs"
SEEDS = [int(seed) for seed in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1]
SLOW, FAST, STEPS = (*map(float, sys.argv[3:5]), int(sys.argv[5])) if len(sys.argv) > 5 else (0.5, 1.0, 40_000)


def trained(speed, seed, from_=""):
    """Session that trains a forward run of at least `speed` m/s, from zero or from the policy of another session."""
    return p2p.run(
        f"run forward at at least {speed:g} m/s",
        env="HalfCheetah-v5",
        seed=seed,
        from_=from_,
        runs_dir=RUNS_DIR,
        n_seeds=1,
        max_iterations=1,
        n_report_rollouts=10,
        config={"total_timesteps": STEPS, "num_evals": max(10, STEPS // 12_000), "n_eval_episodes": 10},
    ).wait()


def steps_to_pass(session):
    """Own steps of the first checkpoint that met everything in 8 of 10 selection rollouts; None: none did."""
    (metrics,) = session.path.glob("iter_1/*_seed_*/metrics/scalars.jsonl")
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    return next((row["global_step"] for row in rows if row.get("success_rate", 0) >= 0.8), None)


for seed in SEEDS:
    slow = trained(SLOW, seed)
    zero = trained(FAST, seed)
    on = trained(FAST, seed, from_=f"{slow.id}:1")
    (line,) = on.view.history
    assert line.from_policy is not None
    print(
        f"seed {seed}: {steps_to_pass(slow)} steps to {SLOW:g} m/s; to {FAST:g} m/s {steps_to_pass(zero)} from zero, "
        f"{steps_to_pass(on)} from the policy, which had cost {line.from_policy.steps}",
        flush=True,
    )
assert (on.path / "start_policy.npz").exists()  # a copy: the session stays whole when the slow one is deleted
