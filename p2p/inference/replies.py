"""Check that an answer is usable."""

from p2p.contracts.inference import ModelRefused, ModelReply, ReplyMalformed, ReplyTruncated, StopReason


def usable(reply: ModelReply) -> ModelReply:
    """Return the reply if it is whole and not empty.

    Raises:
        ModelRefused: the model, or its provider's filter, did not want to.
        ReplyTruncated: it was cut off at its length limit.
        ReplyMalformed: it is empty.
    """
    if reply.stop is StopReason.REFUSED:
        why = f": {reply.refusal}" if reply.refusal else ""
        raise ModelRefused(f"{reply.model} refuses to answer{why}. Rephrase the request, or choose another model.")
    if reply.stop is StopReason.MAX_TOKENS:
        raise ReplyTruncated(f"The answer of {reply.model} was cut off after {reply.usage.output:,} tokens.")
    if reply.stop is StopReason.CONTEXT_FULL:
        raise ReplyTruncated(f"The conversation is longer than the context of {reply.model}.")
    if reply.empty:
        raise ReplyMalformed(f"The answer of {reply.model} is empty.")
    return reply
