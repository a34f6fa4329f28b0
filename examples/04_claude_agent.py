"""Claude writes the reward, looks at the pictures and judges; for a dollar at most. Needs ANTHROPIC_API_KEY."""

import json
import subprocess
import sys

import p2p

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
sentence = ["keep the pole balanced, and the cart in the middle", "--env", "InvertedPendulum-v5"]
command = [sys.executable, "-m", "p2p.cli", "agent", *sentence, "--max-cost", "1", "--json", "--runs-dir", runs_dir]
report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout)
print(report["ending"], "after", report["spending"]["turns"], "answers,", report["spending"]["dollars"], "dollars")

session = p2p.load_session(report["session_id"], runs_dir=runs_dir)
print(session.reward)
assert session.judgment is not None, session.error
print(session.judgment.diagnosis)
assert session.judgment.provenance.judge
