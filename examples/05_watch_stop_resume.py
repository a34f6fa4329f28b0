"""Look on while a session trains, stop it, and go on where it stopped. Under two minutes on two cores."""

import sys
import time

import p2p

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
started = p2p.run(
    "keep the pole balanced for 2 seconds",
    env="InvertedPendulum-v5",
    n_seeds=1,
    n_report_rollouts=10,
    runs_dir=runs_dir,
)

session = p2p.load_session(started.id, runs_dir=runs_dir)  # as another process, or tomorrow, would find it
while not any(run.step for run in session.view.runs):
    time.sleep(0.5)
print("before:", {run.run_id: run.step for run in session.view.runs})

session.stop()
print(session)
assert session.status == "cancelled"

session.resume().wait()  # finished steps are not repeated: its trainings go on from their resume points
assert session.judgment is not None, session.error
print(session.judgment.diagnosis)
assert session.passed
