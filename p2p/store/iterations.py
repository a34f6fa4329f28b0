"""The directory contract of an iteration, of the candidates for its reward, and of one run in it."""

import json
from pathlib import Path
from typing import Any

from p2p.contracts.background import TrainingRequest
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.judgment import Judgment
from p2p.contracts.reward import CandidateChoice, Revision, RewardDraft, RewardReport, RewardSpec
from p2p.contracts.start_states import FoundMotions
from p2p.contracts.training import IterationAggregation, ResumePoint, RunSummary, TrainConfig
from p2p.contracts.training_plan import TrainingPlan
from p2p.contracts.work import CheckRequest, DescribeRequest, FilmRequest, RendererReport
from p2p.store import files, layout
from p2p.store.clock import now
from p2p.store.evaluations import CheckpointRecord, ReportRecord
from p2p.store.records import in_directory, json_file
from p2p.store.scalars import read_scalars
from p2p.store.start_policies import StartRecord


class IterationRecord:
    """Typed access to one directory of runs/…: an iteration (`iter_N`) or a run (`iter_N/<config>_seed_<s>`).

    A run holds config, metrics, checkpoints and summary; an iteration holds the reward, its runs and the
    judgment. A training started alone (`python -m p2p.executor`) is a run with its own reward.
    """

    # what went in
    read_config, save_config = json_file(layout.CONFIG, TrainConfig)
    read_env_spec, save_env_spec = json_file("env_spec.json", EnvSpec)
    read_criteria, save_criteria = json_file(layout.CRITERIA, Intent)
    """Criteria that select a run's checkpoints; absent for a training without an intent."""
    read_training_request, save_training_request = json_file(layout.TRAINING_REQUEST, TrainingRequest)
    """Training request of this iteration and its job; absent if the session's settings apply."""
    read_check_request, save_check_request = json_file(layout.REQUEST, CheckRequest)
    read_film_request, save_film_request = json_file(layout.REQUEST, FilmRequest)
    read_describe_request, save_describe_request = json_file(layout.REQUEST, DescribeRequest)

    # what came out
    read_renderer_report, save_renderer_report = json_file(layout.RESULT, RendererReport)
    read_reward_spec, save_reward_spec = json_file("reward_spec.json", RewardSpec)
    read_reward_report, save_reward_report = json_file("reward_report.json", RewardReport)
    read_summary, save_summary = json_file("summary.json", RunSummary)
    read_resume_point, save_resume_point = json_file(f"{layout.RESUME}/{layout.RESUME_POINT}", ResumePoint)
    read_planned_states, save_planned_states = json_file("planned_states.json", FoundMotions)
    read_plan, save_plan = json_file(layout.PLAN, TrainingPlan)
    read_judgment, save_judgment = json_file("judgment.json", Judgment)

    config_path = in_directory(layout.CONFIG)
    portrait_path = in_directory("portrait.png")
    env_spec_path = in_directory("env_spec.json")
    reward_fn_path = in_directory(layout.REWARD_FN)
    reward_spec_path = in_directory("reward_spec.json")
    reward_report_path = in_directory("reward_report.json")
    draft_path = in_directory(layout.DRAFT)
    summary_path = in_directory("summary.json")
    aggregation_path = in_directory("aggregation.json")
    judgment_path = in_directory("judgment.json")
    revision_path = in_directory("revision.json")
    status_path = in_directory(layout.STATUS)
    scalars_path = in_directory(f"{layout.METRICS}/{layout.SCALARS}")
    learning_curve_path = in_directory(layout.LEARNING_CURVE)
    contact_sheet_path = in_directory(layout.CONTACT_SHEET)
    videos_dir = in_directory(layout.VIDEOS)
    trajectories_dir = in_directory(layout.TRAJECTORIES)
    checkpoints_dir = in_directory("checkpoints")
    check_dir = in_directory("check")
    """Job directory of the reward check."""
    film_dir = in_directory(layout.FILM)
    """Job directory of the videos of a run without a session."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.iteration_id = path.name
        self.report = ReportRecord(path / layout.REPORT)
        self.start_policy = StartRecord(path)
        """What its trainings go on from."""

    @property
    def number(self) -> int:
        """Number of an iteration: 2 of `iter_2`."""
        return int(self.iteration_id.rpartition("_")[2])

    @property
    def config_id(self) -> str:
        """Configuration of a run: `baseline` of `baseline_seed_10`."""
        return self.iteration_id.rpartition("_seed_")[0]

    @property
    def seed(self) -> int:
        """Training seed of a run: 10 of `baseline_seed_10`."""
        return int(self.iteration_id.rpartition("_seed_")[2])

    @property
    def trajectory_path(self) -> Path | None:
        """Latest median rollout, else the latest rollout of any label; None before the first evaluation."""
        found = sorted(self.trajectories_dir.glob("trajectory_*.npz"), key=_trajectory_order)
        return found[-1] if found else None

    # the reward
    def read_draft(self) -> RewardDraft | None:
        """Reward draft with the configuration changes its author asks for."""
        return files.read_model(self.draft_path, RewardDraft)

    def save_draft(self, draft: RewardDraft) -> None:
        """Write `reward_fn.py` and then `draft.json`, which marks it as complete."""
        self.save_reward_source(draft.source)
        files.write_model(self.draft_path, draft)

    def read_reward_source(self) -> str:
        """Source of the reward function; empty if not written yet."""
        return files.read_text(self.reward_fn_path) or ""

    def save_reward_source(self, source: str) -> None:
        """Write `reward_fn.py`."""
        files.write_text(self.reward_fn_path, source)

    def save_revised_reward(self, code: str) -> None:
        """Write `reward_fn_revised.py`, the reward the next iteration starts from."""
        files.write_text(self.path / "reward_fn_revised.py", code)

    # the best of its runs
    def read_aggregation(self) -> IterationAggregation | None:
        """All runs of the iteration; None while one is unfinished, unless it is judged by its checkpoints."""
        return files.read_model(self.aggregation_path, IterationAggregation)

    def save_aggregation(self, aggregation: IterationAggregation) -> None:
        """Write `aggregation.json` and `best_run.json`."""
        best = {"best_run_id": aggregation.best_run_id, "best_config_id": aggregation.best_config_id}
        files.write_json(self.path / "best_run.json", best)
        files.write_model(self.aggregation_path, aggregation)

    # the revision
    def read_revision(self) -> Revision | None:
        """What the next iteration changes; None before revising."""
        return files.read_model(self.revision_path, Revision)

    def save_revision(self, revision: Revision) -> None:
        """Write `reward_fn_revised.py` and then `revision.json`, which marks it as complete."""
        self.save_revised_reward(revision.source)
        files.write_model(self.revision_path, revision)

    # how it stands
    def read_status(self) -> JobStatus | None:
        """`status.json` of a run, as its supervisor wrote it."""
        return files.read_model(self.status_path, JobStatus)

    def set_status(self, status: JobState, error: str | None = None) -> None:
        """Write `status.json` of a run that no supervisor owns."""
        files.write_model(self.status_path, JobStatus(state=status, error=error, updated_at=now()))

    def derive_status(self) -> str:
        """Status from `status.json`, or from the files present: "completed", "running", "pending" or "unknown"."""
        if (status := self.read_status()) is not None:
            return str(status.state)
        if self.summary_path.exists():
            return "completed"
        if self.scalars_path.exists():
            return "running"
        return "pending" if self.config_path.exists() else "unknown"

    def compute_progress(self) -> float | None:
        """Share of the timesteps done, in [0, 1]; None before the first metrics."""
        config = self.read_config()
        training, _ = self.parse_scalars()
        if config is None or not training:
            return None
        return min(1.0, float(training[-1]["global_step"]) / config.total_timesteps)

    def parse_scalars(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Training rows and evaluation rows of `metrics/scalars.jsonl`."""
        return read_scalars(self.scalars_path)

    def append_scalars(self, row: dict[str, Any]) -> None:
        """Append one row of metrics; not synced, so the last rows may be lost with the machine."""
        files.append_line(self.scalars_path, json.dumps(row), durable=False)

    # what is replaced
    def forget_reward(self) -> None:
        """Delete a reward with its check and trainings; the draft, which marks it complete, goes first."""
        names = (layout.DRAFT, "reward_report.json", "reward_spec.json", layout.PLAN, layout.TRAINING_REQUEST)
        for name in names:
            files.remove(self.path / name)
        self.start_policy.discard()
        for directory in (self.check_dir, *(run.path for run in self.runs())):
            files.discard(directory)

    def forget_aggregation(self) -> None:
        """Delete the aggregated results and the report rollouts of the best checkpoint."""
        files.remove(self.aggregation_path)
        files.remove(self.path / "best_run.json")
        self.forget_report()

    def forget_report(self) -> None:
        """Delete the report rollouts, and what judge functions said of them."""
        files.discard_all(self.path / "judged")
        files.discard_all(self.report.path)

    def forget_revision(self) -> None:
        """Delete the revision for the next iteration."""
        files.remove(self.revision_path)

    # what lies in it
    def judged_dir(self, key: str, code_hash: str) -> Path:
        """Job directory for a call of a judge function on the report rollouts."""
        return self.path / "judged" / f"{key}_{code_hash}"

    @property
    def inherited_steps(self) -> int:
        """Environment steps that had led to the policy that a run went on from; 0 for one that began from zero."""
        start = self.start_policy.read()
        return start.steps if start is not None else 0

    def runs(self) -> list["IterationRecord"]:
        """Runs of the iteration, by name."""
        return [IterationRecord(path) for path in sorted(self.path.glob("*_seed_*")) if layout.RUN.fullmatch(path.name)]

    def run(self, config_id: str, seed: int) -> "IterationRecord":
        """A run of the iteration; need not exist."""
        return IterationRecord(self.path / layout.run_name(config_id, seed))

    def checkpoint(self, step: int) -> CheckpointRecord:
        """The checkpoint of `step`; need not exist."""
        return CheckpointRecord(self.checkpoints_dir / str(step))

    def checkpoints(self) -> list[CheckpointRecord]:
        """Checkpoints, oldest first."""
        steps = sorted(int(path.name) for path in self.checkpoints_dir.glob("*") if path.name.isdigit())
        return [self.checkpoint(step) for step in steps]

    @property
    def measured(self) -> bool:
        """Whether a checkpoint of this run has an evaluation."""
        return self.read_summary() is not None or any(one.read_evaluation() is not None for one in self.checkpoints())

    def trajectory(self, step: int, label: str) -> Path:
        """File of the whole rollout `label` at `step`."""
        return self.trajectories_dir / layout.trajectory_name(step, label)

    def video(self, step: int, label: str) -> Path:
        """Video of the rollout `label` at `step`."""
        return self.videos_dir / layout.eval_video_name(step, label)

    def video_filenames(self) -> list[str]:
        """Names of the videos, by step and label."""
        return sorted(path.name for path in self.videos_dir.glob("*.mp4"))

    def validate(self) -> list[str]:
        """Files that a finished run lacks; empty if complete."""
        required = (self.config_path, self.reward_fn_path, self.reward_spec_path, self.summary_path, self.scalars_path)
        missing = [f"{path.name} is missing" for path in required if not path.exists()]
        if self.config_path.exists() and self.read_config() is None:
            missing.append(f"{layout.CONFIG} is not a valid configuration")
        return missing


def _trajectory_order(path: Path) -> tuple[int, bool, str]:
    _, step, label = path.stem.split("_", 2)
    return int(step), label == "median", label


class CandidateRecords:
    """Candidate rewards of one iteration.

    Args:
        iteration: Whose.
    """

    read_choice, save_choice = json_file(layout.CANDIDATES, CandidateChoice)
    """Which candidate was chosen; absent before that, or without candidates."""

    def __init__(self, iteration: IterationRecord) -> None:
        self.path = iteration.path

    def first(self, number: int) -> IterationRecord:
        """A candidate as first written; need not exist."""
        return IterationRecord(self.path / layout.candidate_name(number))

    def mended(self, number: int) -> IterationRecord:
        """A refused candidate after its author's repair; need not exist."""
        return IterationRecord(self.path / layout.candidate_name(number, mended=True))

    def present(self, number: int) -> IterationRecord:
        """The current version of a candidate: repaired, if that was done."""
        mended = self.mended(number)
        return mended if mended.read_reward_report() is not None else self.first(number)

    def run(self, number: int, seed: int) -> IterationRecord:
        """Short training of a candidate; need not exist."""
        return self.present(number).run(layout.candidate_name(number), seed)

    def runs(self) -> list[IterationRecord]:
        """The short trainings begun so far, by name."""
        return [run for place in self._places() for run in place.runs()]

    def job_dirs(self) -> list[Path]:
        """Directories of all jobs of all candidates."""
        return [*(place.check_dir for place in self._places()), *(run.path for run in self.runs())]

    def forget_choice(self) -> None:
        """Delete the choice; candidates, checks and trainings stay."""
        files.remove(self.path / layout.CANDIDATES)

    def _places(self) -> list[IterationRecord]:
        found = sorted(self.path.glob("candidate_*"))
        return [IterationRecord(path) for path in found if layout.CANDIDATE.fullmatch(path.name)]


def all_runs(iteration: IterationRecord) -> list[IterationRecord]:
    """Every training of an iteration, including those of candidates."""
    return [*iteration.runs(), *CandidateRecords(iteration).runs()]


def save_inputs(
    run: IterationRecord, source: str, spec: EnvSpec, config: TrainConfig, intent: Intent | None = None
) -> None:
    """Write the inputs of a run; the configuration comes last and marks them complete.

    Args:
        run: Which run.
        source: Of the reward.
        spec: Of the environment.
        config: Its `iteration_id` becomes the run's.
        intent: By which checkpoints are chosen; None where nothing is judged.
    """
    run.save_reward_source(source)
    run.save_env_spec(spec)
    if intent is not None:
        run.save_criteria(intent)
    run.save_config(config.model_copy(update={"iteration_id": run.iteration_id}))
