"""The pictures of an iteration are made in the directory of its report, and brought to it when the worker is gone."""

from pathlib import Path

from p2p.contracts.frame import FrameNote
from p2p.contracts.work import EvaluateRequest, PictureResult
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord, take_over
from p2p.worker.__main__ import VERBS


def made(iteration: IterationRecord, mark: str) -> None:
    """What a worker leaves in the report."""
    sheet = SheetRecord(iteration.report.path)
    sheet.frame_path(1).parent.mkdir(parents=True)
    for path in (sheet.sheet_path, sheet.frame_path(1), iteration.report.learning_curve_path):
        path.write_text(mark)
    note = FrameNote(index=1, t_s=0.0, step=0, event="start", path="frames/frame_01.jpg")
    sheet.save_result(PictureResult(sheet="contact_sheet.jpg", frames=(note,), note=mark, sizes={}))


def test_pictures_are_brought_to_their_iteration_once_and_later_ones_take_their_place(tmp_path: Path) -> None:
    iteration = IterationRecord(tmp_path)
    take_over(iteration.report.path, iteration.path)
    for mark in ("first", "second"):
        made(iteration, mark)
        for _ in range(2):  # whoever brings them may be killed, and comes again
            take_over(iteration.report.path, iteration.path)
        sheet = SheetRecord(iteration.path)
        result = sheet.read_result()
        assert result is not None
        assert result.note == mark
        shown = (iteration.contact_sheet_path, iteration.learning_curve_path, sheet.path / str(result.frames[0].path))
        assert [path.read_text() for path in shown] == [mark] * 3
        assert list(iteration.report.path.iterdir()) == []


def test_the_worker_of_a_report_writes_in_the_report_alone(tmp_path: Path) -> None:
    iteration = IterationRecord(tmp_path / "iter_1")
    request = EvaluateRequest(
        run_dir="../a_seed_1", run_id="a_seed_1", checkpoint=1, n_rollouts=10, sibling_runs=("../a_seed_2",)
    )
    iteration.report.save_request(request)
    places = VERBS["evaluate"].places(iteration.report.path)
    assert places.writable == (iteration.report.path,)
    assert places.readable == (iteration.run("a", 1).path, iteration.run("a", 2).path)
