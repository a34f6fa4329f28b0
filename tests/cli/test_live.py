import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType
from session_views import SESSION, SPEED, UPRIGHT, data, ended, run, running

from p2p.cli.follow import changes
from p2p.cli.live import picture
from p2p.cli.verdict import ending, runs
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import Verdict
from p2p.contracts.session import SessionStatus
from p2p.contracts.training_plan import EarlyStop


def text(*parts: RenderableType, width: int = 140, colour: bool = False) -> str:
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    return console.file.getvalue()


def test_the_live_view_shows_the_step_the_runs_and_every_criterion_with_its_value_and_threshold() -> None:
    shown = text(picture(running(run(10), run(11, criteria={}, eta_s=None))))

    assert "run [fast]" in shown
    assert "iteration 2/3" in shown
    for word in ("intent", "reward", "train", "judge", "revise"):
        assert word in shown
    assert "baseline_seed_10" in shown
    assert "40 %" in shown
    assert "5,432" in shown
    assert "33 s" in shown
    assert "1,23" in shown
    assert "▁▂▅▄█" in shown
    assert "Runs forward" in shown
    assert "≥ 2 m/s" in shown
    assert "2.5 m/s ✓" in shown
    assert "0.2 ✗" in shown
    assert "Stays upright (optional)" in shown
    assert "needs eyes" in shown
    assert "iteration 1: score 0.5, success 40 %" in shown


def test_a_criterion_that_is_met_is_green_and_one_that_is_not_is_yellow() -> None:
    shown = text(picture(running(run(10))), colour=True)

    assert re.search(r"\x1b\[32m *2\.5 m/s ✓", shown)
    assert re.search(r"\x1b\[33m *0\.2 ✗", shown)


def test_a_failed_run_shows_its_error_beside_those_that_go_on() -> None:
    shown = text(picture(running(run(10), run(11, state="failed", error="Traceback\nRewardFailed: term 'x' is nan"))))

    assert "failed: RewardFailed: term 'x' is nan" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_live_view_fits_the_terminal(width: int) -> None:
    shown = text(picture(running(run(10), run(11))), width=width)

    assert max(len(line) for line in shown.splitlines()) <= width
    assert "baseline_seed_10" in shown


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("n_runs", [1, 2, 6])
def test_nothing_in_the_live_view_is_cut_however_narrow_it_is(width: int, n_runs: int) -> None:
    runs_of = [run(seed, eta_s=500.0, returns=tuple(range(60))) for seed in range(10, 10 + n_runs)]
    shown = text(picture(running(*runs_of, remaining_s=90.0)), width=width)

    assert "…" not in shown.replace(" … ", " ")
    for seed in range(10, 10 + n_runs):
        (row,) = (line for line in shown.splitlines() if line.startswith(f"baseline_seed_{seed}"))
        for part in ("40 %", "8 min 20 s", "1,234"):
            assert part in row, row
    (speed,) = (line for line in shown.splitlines() if "≥ 2 m/s" in line)
    assert speed.startswith("Runs forward")
    assert "2.5" in speed


def test_many_runs_are_summed_up_where_their_columns_do_not_fit() -> None:
    seeds = [run(seed, criteria={"speed": 0.5 * (seed - 10)}) for seed in range(10, 18)]
    rows = text(picture(running(*seeds)), width=60).splitlines()

    (speed,) = (line for line in rows if "Runs forward" in line)
    assert "0 … 3.5  4/8 ✓" in speed
    (upright,) = (line for line in rows if "Stays upright" in line)
    assert upright.rstrip().endswith("–"), "nothing was measured"


def test_on_a_low_terminal_the_criteria_that_are_met_by_all_are_counted() -> None:
    view = running(run(10), run(11)).model_copy(update={"criteria": (SPEED, UPRIGHT, *tall(12))})
    console = Console(file=StringIO(), width=80, height=20, force_terminal=True, legacy_windows=False)
    console.print(picture(view))
    shown = console.file.getvalue()

    assert len(shown.splitlines()) < 20
    assert "13 more are met" in shown
    assert "Stays upright" in shown
    assert "Ctrl-C leaves this view." in shown


def tall(count: int) -> list[Criterion]:
    """Criteria that a run at 2.5 m/s meets."""
    return [SPEED.model_copy(update={"title": f"Runs on, {index}"}) for index in range(count)]


@pytest.mark.parametrize(
    ("changes_", "words"),
    [
        ({"eta_s": None}, "estimating"),
        ({"eta_s": None, "step": 0, "planning": True}, "planning"),
        ({"eta_s": None, "state": "queued", "step": 0}, "–"),
        ({"step": 300_000, "eta_s": 0.0}, "evaluating"),
        ({"state": "completed", "step": 300_000, "eta_s": 0.0}, "done"),
        ({"state": "lost", "error": "killed"}, "lost"),
    ],
)
def test_the_time_left_is_told_or_why_it_is_not(changes_: dict[str, object], words: str) -> None:
    row = next(line for line in text(picture(running(run(10, **changes_)))).splitlines() if line.startswith("baseline"))

    assert words in row


def test_before_the_pace_is_known_the_time_left_is_being_estimated() -> None:
    early = running(run(10, eta_s=None))

    assert "on 2 cores, estimating the time left" in text(picture(early))
    (line,) = changes(running(run(10, step=0, eta_s=None, criteria={}, success_rate=None)), early)
    assert "ETA estimating" in line


def test_motions_to_begin_in_are_told_of_while_they_are_planned() -> None:
    planning = running(run(10, eta_s=None, step=0, planning=True))

    assert "on 2 cores, planning motions to begin in" in text(picture(planning))


def test_an_early_hint_is_shown_and_said_once() -> None:
    hint = "Term 'alive' makes 93% of the reward."
    before, after = running(run(10)), running(run(10, hint=hint), run(11, hint=hint))

    assert text(picture(after)).count(hint) == 1
    assert f"baseline_seed_10: {hint}" in changes(before, after)
    assert changes(after, after) == []


def test_without_a_terminal_each_change_is_one_line() -> None:
    first = running(run(10, step=0, criteria={}, success_rate=None), step="train")
    evaluated = running(run(10, step=80_000))
    judging = evaluated.model_copy(
        update={"step": "judge", "history": (*evaluated.history, data(2, Verdict.PASSED))},
    )

    assert any(SESSION.session_id in line for line in changes(None, first))
    assert changes(first, first) == []
    (line,) = changes(first, evaluated)
    assert "step 80,000 of 300,000" in line
    assert "speed 2.5" in line
    assert "success 25 %" in line
    assert changes(evaluated, running(run(10, step=140_000))) == []
    (line,) = changes(evaluated, running(run(10, step=160_000)))
    assert "step 160,000 of 300,000" in line, "as the last evaluation was, and a quarter further"
    assert changes(evaluated, judging) == [
        "iteration 2/3: judge",
        "iteration 2 judged: passed, score 0.5, success 40 %. Too slow.",
    ]


def test_the_plan_is_shown_and_said_once_when_its_duration_is_known() -> None:
    starting, known = running(run(10)), running(run(10), remaining_s=240.0)

    assert "6 runs, 2 at a time, on 2 cores" in text(picture(starting))
    assert "6 runs, 2 at a time, on 2 cores, about 4 min 00 s left" in text(picture(known))
    assert changes(starting, known) == ["6 runs, 2 at a time, on 2 cores, about 4 min 00 s left"]
    assert changes(known, running(run(10), remaining_s=200.0)) == []


def test_the_first_iteration_is_announced_once() -> None:
    before, after = running(step="reward", iteration=0), running(step="reward", iteration=1)

    assert changes(before, after) == []


def test_the_end_shows_the_verdict_per_criterion_what_was_changed_and_the_files(tmp_path: Path) -> None:
    shown = text(*ending(ended(), tmp_path))

    assert "passed  2 of 3 iterations in 2 min 30 s" in shown
    for part in ("3.21 m/s", "3.1 … 3.32 m/s", "≥ 2 m/s", "100 %", "yes"):
        assert part in shown
    assert "success 100 % [93 %, 100 %] of 50 rollouts, score 0.93 (needs 0.8)" in shown
    assert "reward forward: 1.0 → 2.0 (too slow)" in shown
    assert f"{tmp_path}/{SESSION.session_id}/iter_2/baseline_seed_10/checkpoints/300000" in shown
    assert "video" not in shown, "no line for what was not made"


def test_paths_below_the_current_directory_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert f" runs/{SESSION.session_id}/iter_2" in text(*ending(ended(), tmp_path / "runs"))


def test_a_session_without_a_driver_says_how_to_go_on(tmp_path: Path) -> None:
    view = running(run(10)).model_copy(update={"alive": False})

    assert f"p2p resume {SESSION.session_id}" in text(*ending(view, tmp_path))


@pytest.mark.parametrize("status", list(SessionStatus))
def test_every_status_has_an_ending(status: SessionStatus, tmp_path: Path) -> None:
    view = ended().model_copy(update={"status": status, "error": "it broke [here]"})

    assert "it broke [here]" in text(*ending(view, tmp_path))


def test_a_training_that_ended_early_says_why_and_what_that_saved(tmp_path: Path) -> None:
    stop = EarlyStop(step=150_000, planned=300_000, reason="The verdict was clear.")
    early = run(10, state="completed", step=150_000, early_stop=stop)
    (row,) = [row for row in text(runs([early])).splitlines() if "baseline" in row]
    assert "150,000 / 300,000" in row
    assert row.rstrip().endswith("verdict clear, 150,000 steps saved")
    assert "clear" in text(picture(running(early)))
    before, after = running(run(10, step=150_000)), running(early)
    assert changes(before, after)[:2] == [
        "baseline_seed_10: completed",
        "baseline_seed_10: The verdict was clear. 150,000 steps were saved.",
    ]
    first, last = ended().history
    view = ended().model_copy(update={"history": (first, last.model_copy(update={"steps_saved": 150_000}))})
    assert "2 of 3 iterations in 2 min 30 s, 150,000 steps saved" in text(*ending(view, tmp_path))


def test_a_run_that_went_on_after_interruptions_says_so() -> None:
    whole, once, often = run(10), run(11, resumed=1), run(12, resumed=3)
    rows = {row.split()[0]: row for row in text(runs([whole, once, often])).splitlines() if "baseline" in row}
    assert "interruption" not in rows["baseline_seed_10"]
    assert rows["baseline_seed_11"].rstrip().endswith("went on after an interruption")
    assert "went on after an interruption, 3 times" in rows["baseline_seed_12"]
