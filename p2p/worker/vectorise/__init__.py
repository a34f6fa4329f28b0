"""A reward written for single steps as a function over many rows, where that is proven equal."""

from p2p.worker.vectorise.prove import prove
from p2p.worker.vectorise.refusal import NotVectorised
from p2p.worker.vectorise.rows import row_info
from p2p.worker.vectorise.vector_reward import VectorReward, vectorise

__all__ = ["NotVectorised", "VectorReward", "prove", "row_info", "vectorise"]
