"""Suites as files: TOML with exams beside it, the four-column CSV, and the suites that come with p2p."""

import csv
import re
import tomllib
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import p2p
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Intent
from p2p.contracts.suite import Case, Difficulty, RevealedCases, Selection, Stage, Suite
from p2p.store import files

SHIPPED = Path(p2p.__file__).parent / "benchmark"
"""Holds `suites/<suite>.toml` and `exams/<suite>/<case>.json`."""
CSV_COLUMNS = ("env_id", "instruction", "category", "difficulty")
CSV_STAGES = 25
CSV_GATE = 0.7
"""What a CSV does not say, as in the reference."""


def shipped_suites() -> tuple[str, ...]:
    """Names of the suites that come with p2p."""
    return tuple(sorted(path.stem for path in (SHIPPED / "suites").glob("*.toml")))


def load_suite(name: str) -> Suite:
    """Read a suite by the name of a shipped one, or by the path of a `.toml` or `.csv` file.

    Raises:
        UnknownName: no suite is called so, and there is no such file.
        InvalidInput: the file does not hold a suite; the message says what is wrong.
    """
    path = Path(name)
    if path.suffix not in (".toml", ".csv"):
        if name not in shipped_suites():
            raise UnknownName("suite", name, shipped_suites())
        path = SHIPPED / "suites" / f"{name}.toml"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    try:
        return suite_of_csv(path.stem, text) if path.suffix == ".csv" else _suite_of_toml(path, text)
    except ValidationError as error:
        raise InvalidInput(f"{path} is no suite: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """The first of what is wrong, with its place in the file."""
    wrong = error.errors()[0]
    place = ".".join(map(str, wrong["loc"]))
    return f"{place}{': ' if place else ''}{wrong['msg']}."


def _suite_of_toml(path: Path, text: str) -> Suite:
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    if unknown := told.keys() - {"suite", "budget", "case", "stage", "held_back"}:
        raise InvalidInput(f"{path} has an unknown table {min(unknown)!r}: suite, budget, case, held_back, stage.")
    head = {"name": path.stem} | told.get("suite", {})
    folder = head.pop("exams", None)
    exams = path.parent / folder if isinstance(folder, str) else None
    return Suite.model_validate(
        head
        | {
            "budget": told.get("budget", {}),
            "cases": [_with_exam(path, exams, case) for case in told.get("case", [])],
            "held_back": told.get("held_back", []),
            "stages": told.get("stage", []),
        }
    )


def _with_exam(path: Path, exams: Path | None, case: dict[str, Any]) -> dict[str, Any]:
    """A case with its exam read: the file it names, or the one of its name in the suite's folder of exams.

    Raises:
        InvalidInput: a folder of exams or a file is named, and holds no valid exam of the case.
    """
    named = case.get("exam")
    if isinstance(named, str):
        file = path.parent / named
    elif exams is not None and named is None:
        file = exams / f"{case.get('name', '')}.json"
    else:
        return case
    if not file.exists():
        raise InvalidInput(f"{path}: the case {case.get('name')!r} has no exam: there is no {file}.")
    try:
        exam = Intent.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise InvalidInput(f"{file} is no exam: {_first(error)}") from error
    if (exam.env_id, exam.prompt) != (case.get("env_id"), case.get("prompt")):
        raise InvalidInput(f"{file} is the exam of “{exam.prompt}” for {exam.env_id}, not of {case.get('name')!r}.")
    return case | {"exam": exam}


def save_exam(path: Path, exam: Intent) -> None:
    """Write an exam as a file of its own."""
    files.write_text(path, exam.model_dump_json(indent=2, exclude_defaults=True) + "\n")


def read_revealed(path: Path) -> RevealedCases:
    """Read cases that were kept back and are made public.

    Raises:
        InvalidInput: the file cannot be read, or holds none.
    """
    try:
        return RevealedCases.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise InvalidInput(f"{path} holds no revealed cases: {_first(error)}") from error


def suite_of_csv(name: str, text: str, stages: int = CSV_STAGES, gate: float = CSV_GATE) -> Suite:
    """Suite from a CSV with the columns env_id, instruction, category, difficulty; its cases have no exams.

    Args:
        name: Of the file; letters, digits and hyphens of it are kept.
        text: Its contents.
        stages: Most stages; see `round_robin`.
        gate: Of every stage but the last.

    Raises:
        InvalidInput: a column is missing, or a row has no robot or no sentence.
        ValidationError: a row cannot be a case.
    """
    reader = csv.DictReader(text.splitlines())
    if missing := [column for column in CSV_COLUMNS[:2] if column not in (reader.fieldnames or ())]:
        raise InvalidInput(f"A CSV of cases has the columns {', '.join(CSV_COLUMNS)}; {missing[0]} is missing.")
    cases: list[Case] = []
    for row in reader:
        told = {column: (row.get(column) or "").strip() for column in CSV_COLUMNS}
        if not told["env_id"] or not told["instruction"]:
            raise InvalidInput(
                f"Line {reader.line_num} of the CSV has no {'env_id' if not told['env_id'] else 'instruction'}."
            )
        cases.append(
            Case(
                name=_case_name(told["env_id"], told["instruction"], {case.name for case in cases}),
                env_id=told["env_id"],
                prompt=told["instruction"],
                category=told["category"].lower(),
                difficulty=told["difficulty"].lower() or Difficulty.HARD,
            )
        )
    chunks = round_robin(cases, stages)
    return Suite(
        name=_slug(name)[:40],
        source=f"{name}.csv",
        cases=tuple(cases),
        stages=tuple(
            Stage(
                name=f"batch-{number}",
                where=Selection(case=tuple(case.name for case in chunk)),
                gate=gate if number < len(chunks) else None,
            )
            for number, chunk in enumerate(chunks, start=1)
        ),
    )


def round_robin(cases: Sequence[Case], stages: int) -> list[list[Case]]:
    """Cases in at most `stages` equal consecutive stages, each a mix of difficulties and robots.

    As the reference mixes them: the robots take turns within a difficulty, in the order in which they first appear,
    then easy, medium and hard cases take turns.
    """
    by_difficulty = []
    for difficulty in Difficulty:
        own = [case for case in cases if case.difficulty is difficulty]
        robots = dict.fromkeys(case.env_id for case in own)
        by_difficulty.append(_taking_turns([case for case in own if case.env_id == robot] for robot in robots))
    mixed = _taking_turns(by_difficulty)
    size = max(1, -(-len(mixed) // stages))
    return [mixed[start : start + size] for start in range(0, len(mixed), size)]


def _taking_turns(lists: Iterable[list[Case]]) -> list[Case]:
    return [case for case in chain.from_iterable(zip_longest(*lists)) if case is not None]


def _case_name(env_id: str, prompt: str, taken: set[str]) -> str:
    """Unused name for a case without one: its robot and the first words of its sentence."""
    robot = env_id.removeprefix("Isaac-").partition("-")[0].lower()
    name = f"{_slug(robot)}-{_slug(prompt)}"[:32].strip("-")
    numbered = (f"{name}-{number}" for number in range(2, 100))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "suite"
