"""Signs in a training that its reward differs from the intent."""

from collections.abc import Sequence

from p2p.contracts.intent import score_in_words

SCORE_RISE = 0.02
"""Rise of the intent score that counts as one."""
GOOD_SCORE = 0.9
"""Intent score from which there is little left to rise."""


def hacking_warning(returns: Sequence[float | None], scores: Sequence[float | None]) -> str | None:
    """Warning if the return rose over the checkpoints and the intent score did not; None otherwise.

    That is what a reward looks like which is earned by something else than what was asked. The rise of the return is
    held against its own range, so the size of the reward does not matter.

    Args:
        returns: Mean return at each checkpoint, oldest first; None where there is none.
        scores: Intent score in [0, 1] at the same checkpoints; None where there is none.
    """
    pairs = [(r, s) for r, s in zip(returns, scores, strict=True) if r is not None and s is not None]
    if len(pairs) < 3:
        return None
    kept, marks = zip(*pairs, strict=True)
    spread = max(kept) - min(kept)
    return_rose = spread > 0 and (kept[-1] - kept[0]) / spread > 0.5
    score_rose = max(marks[1:]) - marks[0] > SCORE_RISE
    if not return_rose or score_rose or marks[-1] >= GOOD_SCORE:
        return None
    first, last = score_in_words(marks[0]), score_in_words(marks[-1])
    return (
        f"The return rose from {kept[0]:.3g} to {kept[-1]:.3g} while the intent score went from {first} to {last}: "
        f"the reward is earned by something that was not asked for."
    )
