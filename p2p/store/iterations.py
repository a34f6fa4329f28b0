"""The directory contract of an iteration, and of one run in it."""

import json
from pathlib import Path
from typing import Any

from p2p.contracts.background import TrainingRequest
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.judgment import Judgment
from p2p.contracts.revision import Revision
from p2p.contracts.reward import RewardDraft, RewardReport, RewardSpec
from p2p.contracts.training import IterationAggregation, RunSummary, TrainConfig, TrainingPlan
from p2p.contracts.work import CheckRequest, DescribeRequest, FilmRequest, RendererReport
from p2p.store import files, layout
from p2p.store.clock import now
from p2p.store.evaluations import CheckpointRecord, ReportRecord
from p2p.store.scalars import read_scalars


class IterationRecord:
    """Typed access to one directory of runs/…: an iteration (`iter_N`) or a run (`iter_N/<config>_seed_<s>`).

    A run holds config, metrics, checkpoints and summary; an iteration holds the reward, its runs and the
    judgment. A training started alone (`python -m p2p.executor`) is a run with its own reward.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.iteration_id = path.name
        self.config_path = path / layout.CONFIG
        self.env_spec_path = path / layout.ENV_SPEC
        self.criteria_path = path / layout.CRITERIA
        self.reward_fn_path = path / layout.REWARD_FN
        self.reward_spec_path = path / layout.REWARD_SPEC
        self.reward_report_path = path / layout.REWARD_REPORT
        self.draft_path = path / layout.DRAFT
        self.summary_path = path / layout.SUMMARY
        self.aggregation_path = path / layout.AGGREGATION
        self.scalars_path = path / layout.METRICS / layout.SCALARS
        self.prompt_path = path / layout.PROMPT
        self.videos_dir = path / layout.VIDEOS
        self.trajectories_dir = path / layout.TRAJECTORIES
        self.checkpoints_dir = path / layout.CHECKPOINTS
        self.film_dir = path / layout.FILM
        """Job directory of the videos of a run that was trained alone."""
        self.status_path = path / layout.STATUS
        self.judgment_path = path / layout.JUDGMENT
        self.revision_path = path / layout.REVISION
        self.revised_reward_path = path / layout.REVISED_REWARD
        self.check_dir = path / layout.CHECK
        self.report = ReportRecord(path / layout.REPORT)
        self.learning_curve_path = path / layout.LEARNING_CURVE
        self.contact_sheet_path = path / layout.CONTACT_SHEET

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
        """The latest median rollout, or the latest of any label; None before the first evaluation."""
        found = sorted(self.trajectories_dir.glob("trajectory_*.npz"), key=_trajectory_order)
        return found[-1] if found else None

    # what went in
    def read_config(self) -> TrainConfig | None:
        """How this run is trained."""
        return files.read_model(self.config_path, TrainConfig)

    def save_config(self, config: TrainConfig) -> None:
        """Write `config.json`."""
        files.write_model(self.config_path, config)

    def read_env_spec(self) -> EnvSpec | None:
        """The environment's facts."""
        return files.read_model(self.env_spec_path, EnvSpec)

    def save_env_spec(self, spec: EnvSpec) -> None:
        """Write `env_spec.json`."""
        files.write_model(self.env_spec_path, spec)

    def read_criteria(self) -> Intent | None:
        """What checkpoints are selected by; None for a training without an intent."""
        return files.read_model(self.criteria_path, Intent)

    def save_criteria(self, intent: Intent) -> None:
        """Write `criteria.json`."""
        files.write_model(self.criteria_path, intent)

    def read_training_request(self) -> TrainingRequest | None:
        """How this iteration is trained and by which job; None where its session's settings hold."""
        return files.read_model(self.path / layout.TRAINING_REQUEST, TrainingRequest)

    def save_training_request(self, request: TrainingRequest) -> None:
        """Write `training_request.json`."""
        files.write_model(self.path / layout.TRAINING_REQUEST, request)

    def read_draft(self) -> RewardDraft | None:
        """The reward as its author handed it in, with the configuration it asks for."""
        return files.read_model(self.draft_path, RewardDraft)

    def save_draft(self, draft: RewardDraft) -> None:
        """Write `reward_fn.py` and then `draft.json`, which marks it as complete."""
        self.save_reward_source(draft.source)
        files.write_model(self.draft_path, draft)

    def read_reward_source(self) -> str:
        """Source of the reward function; empty when there is none yet."""
        return files.read_text(self.reward_fn_path) or ""

    def save_reward_source(self, source: str) -> None:
        """Write `reward_fn.py`."""
        files.write_text(self.reward_fn_path, source)

    def save_revised_reward(self, code: str) -> None:
        """Write `reward_fn_revised.py`, the reward the next iteration starts from."""
        files.write_text(self.revised_reward_path, code)

    def save_check_request(self, request: CheckRequest) -> None:
        """Write what a reward check is to do."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_check_request(self) -> CheckRequest | None:
        """What a reward check is to do."""
        return files.read_model(self.path / layout.REQUEST, CheckRequest)

    def save_film_request(self, request: FilmRequest) -> None:
        """Write which runs are to be filmed."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_film_request(self) -> FilmRequest | None:
        """Which runs are to be filmed."""
        return files.read_model(self.path / layout.REQUEST, FilmRequest)

    def save_describe_request(self, request: DescribeRequest) -> None:
        """Write which environment is to be described."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_describe_request(self) -> DescribeRequest | None:
        """Which environment is to be described."""
        return files.read_model(self.path / layout.REQUEST, DescribeRequest)

    # what came out
    def read_renderer_report(self) -> RendererReport | None:
        """What makes pictures on this machine."""
        return files.read_model(self.path / layout.RESULT, RendererReport)

    def save_renderer_report(self, report: RendererReport) -> None:
        """Write `result.json` of the renderer probe."""
        files.write_model(self.path / layout.RESULT, report)

    def read_reward_spec(self) -> RewardSpec | None:
        """What the reward says about itself."""
        return files.read_model(self.reward_spec_path, RewardSpec)

    def save_reward_spec(self, spec: RewardSpec) -> None:
        """Write `reward_spec.json`."""
        files.write_model(self.reward_spec_path, spec)

    def read_reward_report(self) -> RewardReport | None:
        """What checking the reward showed."""
        return files.read_model(self.reward_report_path, RewardReport)

    def save_reward_report(self, report: RewardReport) -> None:
        """Write `reward_report.json`."""
        files.write_model(self.reward_report_path, report)

    def read_summary(self) -> RunSummary | None:
        """What the run reached; None before its end."""
        return files.read_model(self.summary_path, RunSummary)

    def save_summary(self, summary: RunSummary) -> None:
        """Write `summary.json`."""
        files.write_model(self.summary_path, summary)

    def read_plan(self) -> TrainingPlan | None:
        """How its runs share the machine; None before they are trained."""
        return files.read_model(self.path / layout.PLAN, TrainingPlan)

    def save_plan(self, plan: TrainingPlan) -> None:
        """Write `plan.json`."""
        files.write_model(self.path / layout.PLAN, plan)

    def read_aggregation(self) -> IterationAggregation | None:
        """All runs of the iteration; None while one is unfinished, unless it is judged by its checkpoints."""
        return files.read_model(self.aggregation_path, IterationAggregation)

    def save_aggregation(self, aggregation: IterationAggregation) -> None:
        """Write `aggregation.json` and `best_run.json`."""
        best = {"best_run_id": aggregation.best_run_id, "best_config_id": aggregation.best_config_id}
        files.write_json(self.path / layout.BEST_RUN, best)
        files.write_model(self.aggregation_path, aggregation)

    def read_judgment(self) -> Judgment | None:
        """The verdict; None before judging."""
        return files.read_model(self.judgment_path, Judgment)

    def save_judgment(self, judgment: Judgment) -> None:
        """Write `judgment.json`."""
        files.write_model(self.judgment_path, judgment)

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
        config, (training, _) = self.read_config(), self.parse_scalars()
        if config is None or not training:
            return None
        return min(1.0, float(training[-1]["global_step"]) / config.total_timesteps)

    def parse_scalars(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Training rows and evaluation rows of `metrics/scalars.jsonl`."""
        return read_scalars(self.scalars_path)

    def append_scalars(self, row: dict[str, Any]) -> None:
        """Append one row of metrics; not synced, so the last rows may be lost with the machine."""
        files.append_line(self.scalars_path, json.dumps(row), durable=False)

    # what lies in it
    def runs(self) -> list["IterationRecord"]:
        """The runs of an iteration, by name."""
        return [IterationRecord(path) for path in sorted(self.path.glob("*_seed_*")) if layout.RUN.fullmatch(path.name)]

    def run(self, config_id: str, seed: int) -> "IterationRecord":
        """One run of an iteration, whether it exists yet or not."""
        return IterationRecord(self.path / layout.run_name(config_id, seed))

    def checkpoint(self, step: int) -> CheckpointRecord:
        """The checkpoint of `step`, whether it exists yet or not."""
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
