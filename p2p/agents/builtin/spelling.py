"""Spelling correction against known words."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Nearest known word; None if none is near.

    A word of up to seven letters may differ by one slip, a longer one by two; a slip is a letter too many, too few, or
    wrong, or two neighbours swapped. In words of up to four letters a wrong letter makes another word ("hill", "will")
    and is no slip. A wrong, missing or added first letter is none either ("ball", "all"). Ties go to the shorter.
    """
    limit = 1 if len(word) <= 7 else 2
    if len(word) < 3:
        return None
    found = [
        (slips, len(other), other)
        for other in known
        if len(other) >= 3
        and (other[0] == word[0] or sorted(other[:2]) == sorted(word[:2]))
        and abs(len(other) - len(word)) <= limit
        and (slips := distance(word, other)) <= limit
        and (len(word) > 4 or len(other) != len(word) or sorted(other) == sorted(word))
    ]
    return min(found)[-1] if found else None


def distance(one: str, other: str) -> int:
    """Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.

    https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        last = before
        before = row
        row = [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
