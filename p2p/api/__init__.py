"""p2p from Python; everything here is reached as `p2p.<name>`, loaded when it is first named."""

from p2p.api.beginning import criteria, judge, load_policy, load_session, run, sessions, train
from p2p.api.session import Session

__all__ = ["Session", "criteria", "judge", "load_policy", "load_session", "run", "sessions", "train"]
