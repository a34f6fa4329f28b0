"""The session loop, step by step: intent, reward, training, judgment, revision."""

from itertools import count

from p2p.contracts.session import Session
from p2p.service import steps
from p2p.service.workspace import Workspace


def run(ws: Workspace, session_id: str) -> Session:
    """Drive one session to its end. Called again, it continues where it stopped."""
    steps.elicit_intent(ws, session_id)
    for number in count(1):
        steps.choose_reward(ws, session_id, number)
        steps.write_reward(ws, session_id, number)
        steps.train_or_repair(ws, session_id, number)
        steps.judge(ws, session_id, number)
        if outcome := steps.outcome(ws, session_id):
            return steps.close(ws, session_id, outcome)
        steps.revise(ws, session_id, number)
    raise AssertionError("unreachable")
