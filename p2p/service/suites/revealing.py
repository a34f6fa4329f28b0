"""Check cases that were kept back, once they are made public."""

from pathlib import Path

from p2p.contracts.errors import UnknownName
from p2p.store.suite_files import load_suite, read_revealed


def check_revealed(suite: str, path: Path) -> dict[str, bool]:
    """Which revealed cases are those that a suite kept back.

    Args:
        suite: Name or file of the suite.
        path: JSON with `cases`: name, salt, prompt and exam of each.

    Returns:
        Name -> whether sentence and exam are the ones that were kept back.

    Raises:
        UnknownName: there is no such suite, or it keeps back no case of that name.
        InvalidInput: a file cannot be used.
    """
    known = {case.name: case for case in load_suite(suite).held_back}
    revealed = read_revealed(path).cases
    for case in revealed:
        if case.name not in known:
            raise UnknownName("held-back case", case.name, known)
    return {
        case.name: (case.digest, case.exam.env_id, case.exam.prompt)
        == (known[case.name].digest, known[case.name].env_id, case.prompt)
        for case in revealed
    }
