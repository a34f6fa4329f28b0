"""One sentence becomes a trained and judged policy, from Python. No key, under two minutes on two cores."""

import sys
import time
from pathlib import Path

from p2p.contracts.session import NewSession
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

runs_dir = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
ws = Workspace(Settings.from_environment(runs_dir))

session = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5"))
view = start_session(ws, session.session_id)
print("judged by:", *(criterion.title for criterion in view.criteria), sep="\n  ")

while view.alive:  # the session is a process of its own: this one may stop looking at any time
    time.sleep(1)
    view = view_session(ws, session.session_id)

assert view.judgment is not None, view.error
print(view.judgment.diagnosis)
print("video:", runs_dir / (view.artefacts.video or "none"))
assert view.judgment.passed
