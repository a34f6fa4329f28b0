"""`p2p judge calibrate --exams SUITE`: how often the exams of suites are right."""

from pathlib import Path

from rich.table import Table

from p2p.benchmark.table_place import TablePlace
from p2p.cli.output import Output
from p2p.lab.contracts.exams import MOST_FALSE_PASSES, Count, ExamCalibrationRequest, ExamClip, SuiteCalibration
from p2p.lab.exams.calibration import (
    calibrate_exams,
    calibration_path,
    completed,
    read_calibration,
    save_calibration,
)
from p2p.lab.exams.tables import markdown
from p2p.service.workspace import Workspace
from p2p.store.suite_files import load_suite, shipped_suites

MOST_SHOWN = 60


def run(ws: Workspace, output: Output, request: ExamCalibrationRequest, *, ship: bool, readme: Path | None) -> bool:
    """Calibrate the exams of suites and show what they got wrong.

    Args:
        ws: Where the motions are made.
        output: Where it is shown.
        request: Which exams, on which motions.
        ship: Whether to write the report beside the exams.
        readme: File whose `exams` table is written; suites that are not measured keep the rows of their reports.

    Returns:
        Whether every suite is within its targets.

    Raises:
        InvalidInput: the file has no place for a table.
        UnknownName: there is no such suite.
    """
    place = TablePlace(readme, "exams") if readme is not None else None
    found: list[SuiteCalibration] = []
    wrong: list[ExamClip] = []
    for name in shipped_suites() if request.suites == ("all",) else request.suites:
        suite = load_suite(name)
        calibration, mistakes = calibrate_exams(
            ws,
            suite,
            request.seed,
            request.variations,
            request.env_ids,
            lambda text: output.console.print(text, markup=False),
        )
        if request.env_ids:
            calibration = completed(calibration, read_calibration(calibration_path(suite.name)))
        found.append(calibration)
        wrong += mistakes
        if ship:
            save_calibration(calibration_path(suite.name), calibration)
    if place is not None:
        now = {one.suite: one for one in found}
        shipped = {name: read_calibration(calibration_path(name)) for name in shipped_suites()}
        place.write(markdown(one for name in shipped if (one := now.get(name, shipped[name])) is not None))
    output.result({one.suite: one.model_dump(mode="json") for one in found}, _table(found), *_mistakes(wrong))
    return all(map(on_target, found))


def on_target(calibration: SuiteCalibration) -> bool:
    """Whether no exam lets near misses and exploits pass that may be looked at, and few of the others do."""
    mended = [case.mended_on for case in calibration.cases.values()]
    apart = [case.never_looked_at for case in calibration.cases.values()]
    return all(
        sum(count.false_passes for count in counts) <= MOST_FALSE_PASSES * sum(count.spoilt for count in counts)
        for counts in (mended, apart)
    )


def _table(calibrations: list[SuiteCalibration]) -> Table:
    shown = Table("suite", "case", "positives", "near misses", "exploits", "others", "never looked at", box=None)
    for calibration in calibrations:
        for name, case in calibration.cases.items():
            here, apart = case.mended_on, case.never_looked_at
            rest = f"{apart.positives.passed}/{apart.positives.of}, {apart.false_passes}/{apart.spoilt}"
            counts = map(_count, (here.positives, here.near_misses, here.exploits, here.others))
            shown.add_row(calibration.suite, name, *counts, rest)
    return shown


def _count(count: Count) -> str:
    return f"{count.passed}/{count.of}"


def _mistakes(wrong: list[ExamClip]) -> list[str]:
    lines = [
        f"{clip.case}: {clip.kind.replace('_', ' ')} “{clip.words}” ({clip.rule}) "
        + ("passed" if clip.passed else f"missed {', '.join(clip.missed)}")
        for clip in wrong[:MOST_SHOWN]
    ]
    return [*lines, f"… and {len(wrong) - MOST_SHOWN} more"] if len(wrong) > MOST_SHOWN else lines
