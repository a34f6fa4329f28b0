"""A robot that nobody has described: its model file alone, from stance to a policy that trots. Minutes.

python examples/13_your_own_robot.py RUNS_DIR [MODEL.xml or MODEL.urdf]
"""

import sys
from pathlib import Path

import p2p

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
model = sys.argv[2] if len(sys.argv) > 2 else str(Path(__file__).with_name("pony.xml"))

session = p2p.run(
    "trot forward at 0.8 m/s", env=model, runs_dir=runs_dir, n_seeds=1, seed=1, config={"total_timesteps": 600_000}
).wait()
assert session.judgment is not None, session.error

robot = session.environment.robot
assert robot is not None
print(session.environment.env_id, "was described from its model:")
for choice in robot.choices:
    print(" ", choice)
print("an action of 0 holds this stance:", [round(value, 2) for value in robot.stance])

print(session.judgment.diagnosis)
print("video:", session.video)
assert session.passed
