"""Pictures on request: a recorded rollout looked at, and the metrics of a training plotted. Each is made once."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput, TrainingFailed
from p2p.contracts.pictures import FrameNote, MetricsPicture, MetricsPlot, PictureFile, RolloutPictures
from p2p.contracts.work import PictureRequest, PictureResult, PlotRequest, RecordedFile, RunsToPlot, ViewRequest
from p2p.service.jobs import run_to_end
from p2p.service.lineage import best_iteration
from p2p.service.progress import live_training, view
from p2p.service.wiring import Wiring
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord
from p2p.store.views import ViewRecord, path_from_view, state_of, view_record

MIME_TYPES = {".jpg": "image/jpeg", ".png": "image/png", ".mp4": "video/mp4"}


class Viewing(Wiring):
    """What shows what was recorded. All paths it returns are relative to the runs directory."""

    def view_rollout(
        self, session_id: str, iteration: int | None = None, request: ViewRequest | None = None
    ) -> RolloutPictures:
        """Show a recorded rollout: the one that is judged, or while an iteration trains that of its last evaluation.

        The same request is answered by the same files, which are made once.

        Args:
            session_id: The session.
            iteration: Its number; None takes the best one, and before any is judged the newest with a rollout.
            request: Which rollout, from where, how slow.

        Raises:
            UnknownName: there is no such session or iteration.
            InvalidInput: nothing is recorded yet, or the part to show is not in the rollout.
        """
        record, request = self.record(session_id), request or ViewRequest()
        shown = self._shown(record, iteration)
        chosen = [shown, *self._other(session_id, shown, request.compare_with)]
        recorded = [(each, *self._rollout(record, each, request.label)) for each in chosen]
        order = PictureRequest(
            rollouts=tuple(_named(record, shown, request.label, *each) for each in recorded), view=request
        )
        job = view_record(shown.path, order, state_of(trajectory for _, _, trajectory in recorded))
        result = self._made(job, "view", order)
        single = [frame.path for frame in result.frames if frame.path is not None]
        return RolloutPictures(
            session_id=session_id,
            iteration=shown.number,
            compared_with=request.compare_with,
            label=request.label,
            sheet=self._file(job.path, result, result.sheet),
            frames=self._placed(job.path, result),
            frame_files=tuple(self._file(job.path, result, name) for name in single),
            video=self._file(job.path, result, result.video) if result.video is not None else None,
            note=result.note,
        )

    def plot_metrics(
        self,
        session_id: str,
        iteration: int | None = None,
        view: MetricsPlot = MetricsPlot.CURVE,
        with_iteration: int | None = None,
    ) -> MetricsPicture:
        """Plot what was measured while an iteration trained.

        Args:
            session_id: The session.
            iteration: Its number; None takes the best one, and before any is judged the newest.
            view: What of it.
            with_iteration: The second one of a comparison; None takes the one before, or after the first.

        Raises:
            UnknownName: there is no such session or iteration.
            InvalidInput: no run has measured anything yet, or there is nothing to compare with.
        """
        record = self.record(session_id)
        shown = self._plotted(record, iteration)
        chosen = [shown]
        if view is MetricsPlot.COMPARE:
            chosen += self._other(session_id, shown, with_iteration or _neighbour(record, shown.number))
        runs = {each.number: _best_first(each) for each in chosen}
        self._require_metrics(record, chosen, runs)
        session = record.read_session()
        order = PlotRequest(
            view=view,
            iterations=tuple(
                RunsToPlot(
                    name=f"iteration {number}", runs=tuple(path_from_view(shown.path, run.path) for run in of_one)
                )
                for number, of_one in runs.items()
            ),
            title=f"{session.env_id}, iteration {' and '.join(map(str, runs))}: {session.prompt}",
        )
        job = view_record(shown.path, order, state_of(run.scalars_path for of_one in runs.values() for run in of_one))
        result = self._made(job, "plot", order)
        return MetricsPicture(
            session_id=session_id,
            iteration=shown.number,
            view=view,
            with_iteration=chosen[1].number if len(chosen) > 1 else None,
            picture=self._file(job.path, result, result.sheet),
        )

    def _made(self, job: ViewRecord, verb: str, order: PictureRequest | PlotRequest) -> PictureResult:
        """What the worker made of an order, now or before."""
        if (result := job.read_result()) is not None:
            return result
        if job.gone:
            files.discard(job.path)
        job.save_request(order)
        run_to_end(self.backend, verb, job.path)
        if (result := job.read_result()) is None:
            raise TrainingFailed(f"The pictures in {job.path} were removed while they were made. Ask again.")
        return result

    def _shown(self, record: SessionRecord, number: int | None) -> IterationRecord:
        """The iteration meant."""
        if number is not None:
            return self.iteration_begun(record.session_id, number)
        iterations = record.iteration_records()
        if not iterations:
            raise InvalidInput(
                f"{record.session_id} has no iteration yet: nothing is recorded. {self._at_work(record)}"
            )
        if (best := _best(iterations)) is not None:
            return best
        recorded = [each for each in iterations if _recorded(each, "median") is not None]
        return (recorded or iterations)[-1]

    def _plotted(self, record: SessionRecord, number: int | None) -> IterationRecord:
        if number is not None:
            return self.iteration_begun(record.session_id, number)
        iterations = record.iteration_records()
        if not iterations:
            raise InvalidInput(
                f"{record.session_id} has no iteration yet: nothing is measured. {self._at_work(record)}"
            )
        return _best(iterations) or iterations[-1]

    def _other(self, session_id: str, shown: IterationRecord, number: int | None) -> list[IterationRecord]:
        """The iteration to compare with, if there is to be one."""
        if number is None:
            return []
        if number == shown.number:
            raise InvalidInput(f"Iteration {number} is compared with itself. Name another one to compare it with.")
        return [self.iteration_begun(session_id, number)]

    def _rollout(self, record: SessionRecord, iteration: IterationRecord, label: str) -> tuple[IterationRecord, Path]:
        """A recorded rollout and the run it is of."""
        found = _recorded(iteration, label)
        if found is None:
            raise InvalidInput(
                f"Iteration {iteration.number} of {record.session_id} has no recorded rollouts yet: a run records "
                f"the first ones at its first evaluation. {self._at_work(record)}"
            )
        return found

    def _require_metrics(
        self, record: SessionRecord, iterations: list[IterationRecord], runs: dict[int, list[IterationRecord]]
    ) -> None:
        for iteration in iterations:
            if not any(run.parse_scalars()[0] for run in runs[iteration.number]):
                raise InvalidInput(
                    f"Iteration {iteration.number} of {record.session_id} has measured nothing yet. "
                    f"{self._at_work(record)}"
                )

    def _at_work(self, record: SessionRecord) -> str:
        """Which job will change that, in words."""
        glance = view(record, self.backend)
        done, total = sum(run.step for run in glance.runs), sum(run.total_timesteps for run in glance.runs)
        share = f" ({done:,} of {total:,} steps)" if total else ""
        if (job_id := live_training(record, self.backend)) is not None:
            return f"{job_id} is training{share}: ask again when it has come further."
        if glance.alive:
            return f"The session's own job is at the step {glance.step!r}{share}: ask again when it has come further."
        return "No job is running for it: start its training first."

    def _placed(self, directory: Path, result: PictureResult) -> tuple[FrameNote, ...]:
        """The moments, with paths relative to the runs directory."""
        return tuple(
            frame.model_copy(update={"path": self._relative(directory / frame.path) if frame.path else None})
            for frame in result.frames
        )

    def _file(self, directory: Path, result: PictureResult, name: str) -> PictureFile:
        path, (width, height) = directory / name, result.sizes[name]
        return PictureFile(
            path=self._relative(path),
            size_bytes=path.stat().st_size,
            width=width,
            height=height,
            mime_type=MIME_TYPES[path.suffix],
        )

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.runs.path).as_posix()


def _recorded(iteration: IterationRecord, label: str) -> tuple[IterationRecord, Path] | None:
    """The run and the file of a rollout: the report's, or before that the one of the latest evaluation."""
    report = iteration.report.read_evaluation()
    if report is not None:
        path = iteration.report.trajectory(report.checkpoint, label)
        return (IterationRecord(iteration.path / report.run_id), path) if path.exists() else None
    found = [
        (checkpoint.step, run, path)
        for run in iteration.runs()
        for checkpoint in run.checkpoints()
        if (path := run.trajectory(checkpoint.step, label)).exists()
    ]
    latest = max(found, key=lambda each: each[0], default=None)
    return latest[1:] if latest is not None else None


def _named(
    record: SessionRecord,
    shown: IterationRecord,
    label: str,
    iteration: IterationRecord,
    run: IterationRecord,
    path: Path,
) -> RecordedFile:
    session = record.read_session()
    training = "" if path.parent == iteration.report.trajectories_dir else " while training"
    return RecordedFile(
        run_dir=path_from_view(shown.path, run.path),
        trajectory=path_from_view(shown.path, path),
        title=f"Iteration {iteration.number}, {label} rollout{training}, {session.env_id}: {session.prompt}",
    )


def _best(iterations: list[IterationRecord]) -> IterationRecord | None:
    judgments = {each.number: judgment for each in iterations if (judgment := each.read_judgment()) is not None}
    best = best_iteration(judgments)
    return next((each for each in iterations if each.number == best), None)


def _best_first(iteration: IterationRecord) -> list[IterationRecord]:
    aggregation = iteration.read_aggregation()
    best = aggregation.best_run_id if aggregation is not None else ""
    return sorted(iteration.runs(), key=lambda run: (run.iteration_id != best, run.iteration_id))


def _neighbour(record: SessionRecord, number: int) -> int:
    """The iteration before, or else after, another."""
    others = [each.number for each in record.iteration_records() if each.number != number]
    if not others:
        raise InvalidInput(f"{record.session_id} has only iteration {number}: there is none to compare it with yet.")
    return min(others, key=lambda other: (abs(other - number), other))
