"""Steps of an iteration in order, used by the session loop and by callers who drive by hand."""

from p2p.service.judging.closing import close, outcome
from p2p.service.judging.verdict import judge
from p2p.service.rewards.candidates import choose_reward
from p2p.service.rewards.repairing import train_or_repair
from p2p.service.rewards.revision import revise
from p2p.service.rewards.writing import elicit_intent, write_reward

__all__ = ["choose_reward", "close", "elicit_intent", "judge", "outcome", "revise", "train_or_repair", "write_reward"]
