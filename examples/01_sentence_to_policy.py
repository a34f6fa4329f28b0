"""One sentence becomes a trained and judged policy, from Python. No key, under two minutes on two cores."""

import sys
import time
from pathlib import Path

from p2p.contracts.session import NewSession
from p2p.service import Service
from p2p.settings import Settings

runs_dir = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
service = Service(Settings.from_environment(runs_dir))

session = service.create_session(NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5"))
view = service.start_session(session.session_id)
print("judged by:", *(criterion.title for criterion in view.criteria), sep="\n  ")

while view.alive:  # the session is a process of its own: this one may stop looking at any time
    time.sleep(1)
    view = service.view_session(session.session_id)

assert view.judgment is not None, view.error
print(view.judgment.diagnosis)
print("video:", runs_dir / (view.artefacts.video or "none"))
assert view.judgment.passed
