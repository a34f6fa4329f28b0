"""A reward of one's own is checked, trained once, and judged by a sentence. Under two minutes on two cores."""

import sys
import time
from pathlib import Path

from p2p.contracts.session import NewSession
from p2p.service.judging.by_code import rejudge
from p2p.service.progress.details import view_iteration
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = v_x - 0.1 c
    Terms:
        speed: forward velocity
        effort: price of large actions
    """
    terms = {"speed": info["velocity_x"], "effort": -0.1 * info["control_effort"]}
    return sum(terms.values()), terms
'''

runs_dir = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
ws = Workspace(Settings.from_environment(runs_dir))
request = NewSession(
    prompt="move forward slowly",
    env_id="HalfCheetah-v5",
    author="given",
    config={"total_timesteps": 150_000},
    n_report_rollouts=20,
)
session = create_session(ws, request, reward=REWARD)
view = start_session(ws, session.session_id)
while view.alive:
    time.sleep(1)
    view = view_session(ws, session.session_id)

report = view_iteration(ws, session.session_id, 1)
assert report.reward_report is not None
print("terms:", {term.name: round(term.mean, 3) for term in report.reward_report.terms})
assert view.judgment is not None, view.error
print(view.judgment.diagnosis)  # this reward asks for speed and not for slowness: the judge says so

again = rejudge(ws, session.session_id, 1, prompt="move forward")
print(again.diagnosis)  # other criteria, the same rollouts: nothing is simulated again
assert again.criteria[0].value == view.judgment.criteria[0].value
