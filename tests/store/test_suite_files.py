import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.suite import Case, Difficulty, HeldBackCase, Suite
from p2p.contracts.training import SEED_BLOCK, SESSION_BLOCKS, Purpose, first_seed
from p2p.store.suite_files import load_suite, round_robin, save_exam, shipped_suites

FULL = {"e": "easy", "m": "medium", "h": "hard"}
EXOTIC = [("Ant-v5", "mehhh"), ("HalfCheetah-v5", "mmhhh"), ("Humanoid-v5", "mehmm")]
"""Robots of the reference's two files in the order of their rows, with the difficulty of each row."""
ISAAC = [
    *[("Ant", "eemmmhhhhh"), ("Cartpole", "e"), ("Franka", "m"), ("Humanoid", "emmmmmhhhh"), ("Quadcopter", "m")],
    *[("Allegro", "h"), ("Shadow", "h"), ("Pen", "h"), ("AnymalC", "emmmmmhhh"), ("AnymalD", "mmhh")],
    *[("Cassie", "emmmh"), ("Digit", "emhh"), ("G1", "emmmhh"), ("H1", "mmmh"), ("Spot", "emh"), ("Go2", "mmm")],
]
EXOTIC_STAGES = [[1], [0], [2], [11], [5], [7], [10], [12], [6], [3], [13], [8], [14], [4], [9]]
ISAAC_STAGES = [
    *[[0, 2, 5], [10, 11, 18], [12, 13, 23], [26, 22, 24], [39, 27, 25], [44, 35, 32], [48, 40, 37], [58, 45, 43]],
    *[[1, 49, 46], [54, 52, 59], [57, 61, 60], [3, 6, 14], [19, 28, 33], [36, 38, 41], [47, 50, 53], [55, 7, 62]],
    *[[20, 4, 34], [15, 8, 29], [21, 42, 9], [51, 56, 63], [16, 30, 17], [31]],
]
"""Rows of each stage, as the reference's own program cuts those files with its defaults."""


def text_of(rows: list[tuple[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["env_id", "instruction", "category", "difficulty"])
    told = [(robot, FULL[letter]) for robot, letters in rows for letter in letters]
    for number, (robot, difficulty) in enumerate(told):
        writer.writerow([robot, f"Row {number}, do it", "pose", difficulty])
    return out.getvalue()


def exam_of(prompt: str, threshold: float = 1.0) -> Intent:
    """Exam with one criterion."""
    speed = Predicate(
        statistic=Statistic.MEAN,
        feature="forward_velocity",
        comparison=Comparison.AT_LEAST,
        threshold=threshold,
        unit="m/s",
        margin=1.0,
    )
    criterion = Criterion(
        key="fast", title="is fast", description="is fast", category=Category.GAIT, predicate=speed, weight=1.0
    )
    return Intent(prompt=prompt, env_id="HalfCheetah-v5", criteria=(criterion,))


HEAD = """
[suite]
name = "two"
seeds = [1, 2]
exams = "exams/two"
[budget]
minutes = 5
[[case]]
name = "run"
env_id = "HalfCheetah-v5"
prompt = "run"
difficulty = "easy"
[[case]]
name = "crawl"
env_id = "HalfCheetah-v5"
prompt = "crawl"
difficulty = "hard"
[[stage]]
name = "first"
where = { difficulty = "easy" }
gate = 0.5
[[stage]]
name = "rest"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A suite of two cases with exams in a folder beside it."""
    path = tmp_path / "two.toml"
    path.write_text(HEAD)
    for prompt in ("run", "crawl"):
        save_exam(tmp_path / "exams" / "two" / f"{prompt}.json", exam_of(prompt))
    return path


@pytest.mark.parametrize(("rows", "stages"), [(EXOTIC, EXOTIC_STAGES), (ISAAC, ISAAC_STAGES)])
def test_the_stages_of_a_csv_are_those_of_the_reference(
    tmp_path: Path, rows: list[tuple[str, str]], stages: list[list[int]]
) -> None:
    path = tmp_path / "test_cases.csv"
    path.write_text(text_of(rows))
    suite = load_suite(str(path))
    names = [case.name for case in suite.cases]
    assert [[names.index(name) for name in stage.where.case] for stage in suite.stages] == stages
    assert [stage.gate for stage in suite.stages] == [0.7] * (len(stages) - 1) + [None]
    assert suite.cases[3].prompt == "Row 3, do it"


@given(
    letters=st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(list(Difficulty))), min_size=1, max_size=40),
    stages=st.integers(1, 30),
)
def test_stages_hold_every_case_once_and_are_of_one_size(letters: list[tuple[str, Difficulty]], stages: int) -> None:
    cases = [
        Case(name=f"case-{number}", env_id=robot, prompt="x", difficulty=difficulty)
        for number, (robot, difficulty) in enumerate(letters)
    ]
    chunks = round_robin(cases, stages)
    assert sorted(case.name for chunk in chunks for case in chunk) == sorted(case.name for case in cases)
    assert len(chunks) <= stages
    assert {len(chunk) for chunk in chunks[:-1]} <= {len(chunks[0])}
    assert 0 < len(chunks[-1]) <= len(chunks[0])


def test_rows_with_one_sentence_have_different_names(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("env_id,instruction,category,difficulty\nAnt-v5,walk,,easy\nAnt-v5,walk,,easy\n")
    assert [case.name for case in load_suite(str(path)).cases] == ["ant-walk", "ant-walk-2"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("env_id,category\nAnt-v5,pose\n", "instruction is missing"),
        ("env_id,instruction\nAnt-v5,\n", "Line 2 of the CSV has no instruction"),
        ("env_id,instruction,difficulty\nAnt-v5,walk,brutal\n", "difficulty"),
    ],
)
def test_a_csv_that_holds_no_cases_is_refused(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=named):
        load_suite(str(path))


def test_a_suite_is_read_with_its_exams(file: Path) -> None:
    suite = load_suite(str(file))
    assert [(case.name, case.exam) for case in suite.cases] == [("run", exam_of("run")), ("crawl", exam_of("crawl"))]
    assert [stage.name for case in suite.cases if (stage := suite.stage_of(case))] == ["first", "rest"]
    assert suite.budget.minutes == 5


def test_any_edit_of_a_suite_or_an_exam_changes_its_digest(file: Path) -> None:
    digests = {load_suite(str(file)).digest}
    for before, after in (
        ('"run"\ndiff', '"run fast"\ndiff'),
        ("[1, 2]", "[1, 3]"),
        ("minutes = 5", "minutes = 6"),
        ("gate = 0.5", "gate = 0.6"),
        ('"easy"\n[[case', '"medium"\n[[case'),
    ):
        text = HEAD.replace(before, after)
        assert text != HEAD
        file.write_text(text)
        for case in ("run", "run fast"):
            save_exam(file.parent / "exams" / "two" / "run.json", exam_of(case))
            if f'prompt = "{case}"' in text:
                digests.add(load_suite(str(file)).digest)
    file.write_text(HEAD)
    save_exam(file.parent / "exams" / "two" / "run.json", exam_of("run", threshold=1.01))
    changed = load_suite(str(file))
    digests.add(changed.digest)
    assert len(digests) == 7
    save_exam(file.parent / "exams" / "two" / "run.json", exam_of("run"))
    assert changed.without_exams == load_suite(str(file)).without_exams
    other = HeldBackCase(name="secret", env_id="Hopper-v5", digest="0" * 64)
    assert changed.model_copy(update={"held_back": (other,)}).without_exams == changed.without_exams


def test_a_case_without_the_exam_it_should_have_is_refused(file: Path) -> None:
    exam = file.parent / "exams" / "two" / "run.json"
    exam.unlink()
    with pytest.raises(InvalidInput, match="'run' has no exam"):
        load_suite(str(file))
    save_exam(exam, exam_of("sprint"))
    with pytest.raises(InvalidInput, match="is the exam of “sprint”"):
        load_suite(str(file))


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ('name = "crawl"', 'name = "run"', "two cases are called run"),
        ('name = "rest"', 'name = "rest"\nwhere = { category = "pose" }', "no stage takes crawl"),
        ("[budget]", "[bugdet]", "unknown table 'bugdet'"),
        ("minutes = 5", "minutes = 0", "budget.minutes"),
        ("[suite]", "[suite", "is no TOML"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_in_words(file: Path, before: str, after: str, named: str) -> None:
    file.write_text(HEAD.replace('exams = "exams/two"\n', "").replace(before, after))
    with pytest.raises(InvalidInput, match=named):
        load_suite(str(file))


def test_an_unknown_suite_is_told_with_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match="Unknown suite 'basics'"):
        load_suite("basics")


def test_two_cases_of_one_name_are_refused() -> None:
    case = Case(name="run", env_id="Ant-v5", prompt="run")
    with pytest.raises(ValidationError, match="two cases are called run"):
        Suite(name="same", cases=(case, case))


def test_exam_seeds_meet_no_other_seeds() -> None:
    """Over all suites, every seed a session may have, and the latest of its iterations."""
    suites = [load_suite(name) for name in shipped_suites()] + [
        Suite(name="made-up", n_exam_rollouts=1000, cases=(Case(name="run", env_id="Ant-v5", prompt="run"),))
    ]
    used = [suite.exam_seeds(case.name, seed) for suite in suites for case in suite.cases for seed in range(100)]
    assert sum(map(len, used)) == len({seed for seeds in used for seed in seeds})
    others = (Purpose.TRAINING, Purpose.SELECTION, Purpose.REPORT)
    last = max(first_seed(purpose, 999) for purpose in others) + SEED_BLOCK * SESSION_BLOCKS + 100_000
    assert min(seeds[0] for seeds in used) > last
    assert max(seeds[-1] for seeds in used) < 2**53
