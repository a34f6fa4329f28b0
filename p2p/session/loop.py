"""Intent, then reward, training, judgment and revision until it passes or stops: the straight line."""

from itertools import count

from p2p.contracts.session import Session
from p2p.service import Service


def run(service: Service, session_id: str) -> Session:
    """Drive one session to its end. Called again, it continues where it stopped."""
    service.elicit_intent(session_id)
    for number in count(1):
        service.choose_reward(session_id, number)
        service.write_reward(session_id, number)
        service.train_or_repair(session_id, number)
        service.judge(session_id, number)
        if outcome := service.outcome(session_id):
            return service.close(session_id, outcome)
        service.revise(session_id, number)
    raise AssertionError("unreachable")
