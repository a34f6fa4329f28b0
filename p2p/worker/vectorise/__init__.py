"""Vectorise a reward written for single steps, if proven equal."""

from p2p.worker.vectorise.lanes import NotVectorised
from p2p.worker.vectorise.prove import prove
from p2p.worker.vectorise.rows import row_info
from p2p.worker.vectorise.vector_reward import VectorReward, vectorise

__all__ = ["NotVectorised", "VectorReward", "prove", "row_info", "vectorise"]
