import json
from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.suite import RevealedCase
from p2p.service.suites.revealing import check_revealed
from p2p.store.suite_files import load_suite

EXAM = load_suite("basic").cases[0].exam
assert EXAM is not None
SALT = "0123456789abcdef0123456789abcdef"
CASE = RevealedCase(name="kept", salt=SALT, prompt=EXAM.prompt, exam=EXAM)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "made-up.toml"
    path.write_text(
        f'[[case]]\nname = "one"\nenv_id = "Ant-v5"\nprompt = "walk"\n'
        f'[[held_back]]\nname = "kept"\nenv_id = "HalfCheetah-v5"\ndigest = "{CASE.digest}"\n'
    )
    return str(path)


def revealed(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "revealed.json"
    told = json.loads(CASE.model_copy(update=changes).model_dump_json(exclude_defaults=True))
    path.write_text(json.dumps({"cases": [told]}))
    return path


def test_the_case_that_was_kept_back_is_known_again(suite: str, tmp_path: Path) -> None:
    assert check_revealed(suite, revealed(tmp_path)) == {"kept": True}


@pytest.mark.parametrize("change", ["salt", "prompt", "exam"])
def test_any_other_case_is_told(suite: str, tmp_path: Path, change: str) -> None:
    assert EXAM is not None
    other = {"salt": SALT[::-1], "prompt": "run", "exam": EXAM.model_copy(update={"episode_s": 7.0})}
    assert check_revealed(suite, revealed(tmp_path, **{change: other[change]})) == {"kept": False}


def test_a_case_that_nobody_kept_back_is_refused(suite: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="held-back case"):
        check_revealed(suite, revealed(tmp_path, name="another"))


def test_a_file_without_cases_is_refused(suite: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"cases": []}')
    with pytest.raises(InvalidInput, match="no revealed cases"):
        check_revealed(suite, path)


def test_a_hash_without_its_salt_is_not_that_of_the_sentence() -> None:
    assert EXAM is not None
    assert RevealedCase(name="kept", salt="0" * 32, prompt=EXAM.prompt, exam=EXAM).digest != CASE.digest
