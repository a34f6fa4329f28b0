"""How well a score separates positives from negatives."""

from collections.abc import Sequence


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Area under the ROC curve: probability that a positive scores higher than a negative; ties count half.

    By ranks, as the U statistic of Mann and Whitney (1947).

    Returns:
        In [0, 1]; None when either is empty.
    """
    if not positives or not negatives:
        return None
    scores = sorted(set(positives) | set(negatives))
    place = {score: index for index, score in enumerate(scores)}
    counts = [[0, 0] for _ in scores]
    for side, values in enumerate((positives, negatives)):
        for value in values:
            counts[place[value]][side] += 1
    below = 0
    won = 0.0
    for right, wrong in counts:
        won += right * (below + wrong / 2.0)
        below += wrong
    return won / (len(positives) * len(negatives))
