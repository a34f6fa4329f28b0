"""Trainings: configuration, summary and checkpoints of runs; rollouts; resume points."""

import hashlib
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from p2p.contracts.base import Contract, FileName
from p2p.contracts.commands import Commands
from p2p.contracts.curriculum import Curriculum, EpisodeGrowth, Pushes, StartCurriculum
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Bound, Bounds
from p2p.contracts.observe import Observe
from p2p.contracts.randomisation import USUAL, Randomisation
from p2p.contracts.reward import TermStatistics
from p2p.contracts.reward_rules import Method
from p2p.contracts.sandbox import SandboxLevel
from p2p.contracts.senses import Observation
from p2p.contracts.start_states import StartStates
from p2p.contracts.terrain import Terrain
from p2p.contracts.training_plan import EarlyStop


class TrainConfig(Contract):
    """One configuration of one training run. Accepts CleanRL's spellings too (`num_envs`, `num_steps` …)."""

    env_id: str = "HalfCheetah-v5"
    """Gymnasium's id of the environment."""
    seed: int = Field(default=1, ge=0)
    """Of its environments, its first weights and its draws: equal seeds train equal policies."""
    total_timesteps: int = Field(default=300_000, ge=1)
    """Control steps in all environments together; rounded up to whole rollouts."""
    n_envs: int = Field(default=16, ge=1)
    """Environments that are stepped side by side."""
    n_steps: int = Field(default=64, ge=1)
    """Steps per environment and rollout."""
    batch_size: int = Field(default=128, ge=2)
    """Transitions of one step of the optimiser."""
    n_epochs: int = Field(default=5, ge=1)
    """Times that each rollout is gone through."""
    learning_rate: float = Field(default=7e-4, gt=0, le=1)
    """Of Adam, at the start."""
    learning_rate_end: float = Field(default=0.1, ge=0, le=1)
    """Share of the learning rate left at the end; it falls linearly over the steps."""
    gamma: float = Field(default=0.99, ge=0, le=1)
    """Discount of a reward one control step later."""
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation (Schulman et al., 2016)."""
    clip_range: float = Field(default=0.2, gt=0)
    """How far the ratio of new to old probability may leave 1 (PPO, Schulman et al., 2017)."""
    clip_range_vf: float | None = Field(default=None, gt=0)
    """Clips how far a predicted return moves in one update, in normalised rewards; None does not."""
    ent_coef: float = Field(default=0.0, ge=0)
    """Weight of the entropy in the loss: above 0 the policy explores for longer."""
    vf_coef: float = Field(default=0.5, ge=0)
    """Weight of the error of the predicted returns in the loss."""
    max_grad_norm: float = Field(default=0.5, gt=0)
    """Length to which longer gradients are cut."""
    target_kl: float | None = Field(default=0.04, gt=0)
    """Ends an update's epochs at 1.5 times this; None never does."""
    learner: Literal["fast", "sb3"] = "fast"
    """"fast" is PPO in numpy; "sb3" is stable-baselines3, for large networks and for `device` other than cpu."""
    net_arch: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers, of the policy and of the predicted returns alike."""
    activation: Literal["relu", "tanh"] = "relu"
    """After each hidden layer."""
    mirror: bool = False
    """Learns from each rollout and from its mirror image, left for right, which doubles the learner's part of the time.
    Refused where the robot, its policy's inputs or the reward are not symmetric, by mirrored random steps."""
    log_std_init: float = -0.5
    """Logarithm of the standard deviation of the actions at the start."""
    normalize_obs: bool = True
    """Observations less their running mean, in units of their running standard deviation."""
    normalize_reward: bool = True
    """Rewards in units of the running standard deviation of the discounted return."""
    clip_obs: float = Field(default=10.0, gt=0)
    """Largest magnitude of a normalised observation."""
    clip_reward: float = Field(default=10.0, gt=0)
    """Largest magnitude of a normalised reward."""
    episode_s: float = Field(default=5.0, gt=0)
    """Episode length [s]; `max_episode_steps` overrides it."""
    max_episode_steps: int | None = Field(default=None, ge=1)
    """Episode length in control steps; None takes `episode_s`."""
    terminate_when_unhealthy: bool = False
    """Ends training episodes by the environment's own rule; evaluation episodes always run their time."""
    end_when: Bounds = Field(default=(), max_length=8)
    """Ends a training episode, as a fall does, at the first step where one of these holds; evaluation episodes always
    run their time. A text such as "torso_contact >= 0.5" or "abs(pitch) >= 1" is enough."""
    end_when_lost: Bounds = Field(default=(), max_length=8)
    """Ends a training episode at the first step where one of these has held and no longer does: with "height >= 0.85" a
    robot that begins on the floor has time to get up, and the episode is over where it falls."""
    start_states: StartStates | None = None
    """None starts every training episode as Gymnasium does."""
    curriculum: Curriculum | None = None
    """What changes while the training goes on: starts, weights of the reward's terms, length of the episodes, pushes,
    assistance; None nothing. Evaluation episodes are the same throughout."""
    observe: Observe | None = None
    """What the policy is told besides the simulator's observation; None nothing. A list of features is enough."""
    commands: Commands | None = None
    """Velocities that the policy is told to follow, drawn for each episode; None for none. They are appended to what it
    sees, and to the features that rewards and criteria read. Selection and report rollouts draw them too."""
    observation: Observation = "full"
    """What the policy sees: "full" what the simulator knows; "robot" what the robot's own sensors measure (direction of
    gravity, angular velocity, joints about the stance, last action); "robot_and_velocity" also the velocity of its
    base, which no sensor measures. The latter two say nothing of where it faces, and need a robot from a model file or
    a base that moves freely. Rewards and criteria read the simulator in any case."""
    critic_observation: Literal["same", "full"] = "same"
    """What returns are predicted from: "full" adds all that the simulator knows to what the policy sees, the draws of
    `randomisation` and the ground of a `terrain` around the robot included. It is needed in training alone (Pinto et
    al., Asymmetric actor critic, 2018)."""
    randomisation: Randomisation | None = None
    """How the robots of training episodes differ from the model, drawn anew for each; "usual" for usual ranges; None
    for not at all. Selection and report rollouts have the robot as it is."""
    side_info: bool = False
    """Adds copies of the simulator's named arrays to a reward's `info`. The policy does not see them: with a reward
    that reads none of them, the training is the same to the bit."""
    env_kwargs: dict[str, bool | int | float | str] = {}
    """Passed to `gymnasium.make`."""
    terrain: Terrain | None = None
    """Ground of a robot from a model file, in training, selection and report rollouts alike; None for the floor of its
    model. Features measure heights above it."""
    num_evals: int = Field(default=4, ge=1)
    """Evaluation points, the last one at the end."""
    n_eval_episodes: int = Field(default=20, ge=3)
    """Selection rollouts at each evaluation point."""
    stop_at_score: float | None = Field(default=None, gt=0, le=1)
    """Ends the training at the second checkpoint in a row that clearly passes with this score, by the rule of
    `p2p.analysis.clear_verdict`; None trains to the end. After a checkpoint that passes the next one is evaluated after
    a quarter of the way to the next evaluation point."""
    device: str = Field(default="cpu", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    """Of stable-baselines3: auto, cpu, mps, cuda or cuda:1."""
    iteration_id: str = ""
    """Name of the run; p2p gives it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _accept_cleanrl_names(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        renamed = {_CLEANRL_NAMES.get(key, key): value for key, value in values.items()}
        minibatches = renamed.pop("num_minibatches", 1)
        if not isinstance(minibatches, int) or minibatches < 1:
            raise ValueError(f"num_minibatches must be a whole number from 1, got {minibatches!r}")
        sizes = renamed.get("n_envs", 16), renamed.get("n_steps", 64)
        if not all(isinstance(size, int) for size in sizes):
            return renamed  # refused by their own fields
        rollout = sizes[0] * sizes[1]
        if "num_minibatches" in values:
            renamed["batch_size"] = max(2, rollout // minibatches)
        if {"num_envs", "num_steps"} & values.keys():
            renamed.setdefault("batch_size", min(128, rollout))
        return renamed

    @model_validator(mode="after")
    def _batch_fits_rollout(self) -> Self:
        if self.batch_size > self.n_envs * self.n_steps:
            raise ValueError(
                f"batch_size {self.batch_size} is larger than a rollout of "
                f"n_envs x n_steps = {self.n_envs * self.n_steps} transitions"
            )
        return self

    @model_validator(mode="after")
    def _learner_knows_two_observations(self) -> Self:
        if self.critic_observation != "same" and (self.learner != "fast" or not self.net_arch):
            raise ValueError(
                f'critic_observation "{self.critic_observation}" needs learner "fast" and a hidden layer in net_arch'
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _usual_noise_is_of_senses(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("randomisation") == "usual":
            ranges = USUAL if values.get("observation", "full") != "full" else {**USUAL, "noise": None}
            return {**values, "randomisation": ranges}
        return values

    @model_validator(mode="after")
    def _noise_is_of_senses(self) -> Self:
        if self.randomisation is not None and self.randomisation.noise is not None and self.observation == "full":
            raise ValueError(
                'randomisation has noise of the senses and observation is "full": give observation "robot", or no noise'
            )
        return self

    @model_validator(mode="after")
    def _device_suits_learner(self) -> Self:
        if self.learner == "fast" and self.device not in ("cpu", "auto"):
            raise ValueError(f'device {self.device} needs learner "sb3": the learner "fast" computes on the CPU')
        return self

    @model_validator(mode="after")
    def _mirror_suits_critic(self) -> Self:
        if self.mirror and self.critic_observation != "same":
            raise ValueError("mirror has no mirror image of what critic_observation shows the critic; leave one out")
        return self

    @model_validator(mode="after")
    def _curriculum_contradicts_nothing(self) -> Self:
        changing = self.curriculum
        if changing is None:
            return self
        if changing.starts is not None:
            self._require_starts_for(changing.starts)
        if changing.episodes is not None and self.max_episode_steps is not None:
            raise ValueError("curriculum.episodes grows to episode_s, which max_episode_steps overrides; leave one out")
        if changing.episodes is not None and changing.episodes.start_s >= self.episode_s:
            raise ValueError(
                f"curriculum.episodes begins at {changing.episodes.start_s:g} s and grows to episode_s, "
                f"{self.episode_s:g} s; expected a shorter start"
            )
        return self

    def _require_starts_for(self, changing: StartCurriculum) -> None:
        if self.start_states is None:
            raise ValueError(
                "curriculum.starts leaves start_states, and there are none; give start_states too, or set curriculum "
                "to null"
            )
        if changing.reverse and not self.start_states.one_by_one:
            raise ValueError(
                "curriculum.starts.reverse moves back through the states of a motion, in the order of time; expected "
                "two start_states.states or more of a recorded rollout, or start_states.planned; got "
                f"{len(self.start_states.states)} of {self.start_states.motions}"
            )
        if changing.goal and self.start_states.share == 1.0:
            raise ValueError(
                "curriculum.starts follows the success of episodes from the environment's own start, and with a share "
                "of 1 in start_states there are none; give a smaller share, or no goal"
            )

    def episode_steps(self, dt: float) -> int:
        """Control steps of one episode, for a control period of `dt` seconds."""
        return self.max_episode_steps or max(1, round(self.episode_s / dt))


class EffectiveConfig(Contract):
    """Every field of the configuration a reward is trained with, by who set it; later ones win over earlier."""

    default: dict[str, Any] = {}
    """p2p's own."""
    preset: dict[str, Any] = {}
    """What suits the environment and the length of the training."""
    reward: dict[str, Any] = {}
    """`config_changes` of the reward's author."""
    session: dict[str, Any] = {}
    """What the session was created with."""
    training: dict[str, Any] = {}
    """Of the configuration or the call that starts the training."""


class RewardEvaluation(Contract):
    """How a training evaluated its reward."""

    method: Method
    reason: str = ""
    """Why not all steps at once."""
    microseconds_per_step: float
    time_share: float
    """Of the training time, in [0, 1]."""


class RunSummary(Contract):
    """What one training run reached (`summary.json`)."""

    total_timesteps: int
    """Steps that were made."""
    inherited_steps: int = 0
    """Steps that had led to the policy that it went on from; 0 for a training from zero."""
    planned_steps: int = Field(default=0, exclude_if=lambda steps: not steps)
    """Control steps that were simulated to plan the motions that its episodes begin in."""
    training_time_s: float
    final_episodic_return: float | None
    """Mean return of the last 10 training episodes; None when no episode ended."""
    total_episodes: int
    steps_per_second: float
    algorithm: str = "ppo"
    learner: str = "fast"
    reward: RewardEvaluation | None = None
    """None for Gymnasium's own reward."""
    peak_memory_mb: int | None = None
    """Largest resident memory of the training process alone [MiB]. With the process of its reward and those that
    evaluate beside it: `JobStatus.peak_memory_mb` in `status.json`."""
    sandbox: SandboxLevel | None = None
    """How the training process was confined; None when it was not."""
    resumed: int = 0
    """How often it went on from a resume point after an interruption."""
    early_stop: EarlyStop | None = None
    """None for a training that made all its steps."""
    best_checkpoint: int | None
    """Step of the checkpoint that did best on the selection rollouts."""
    best_selection_score: float | None
    """Its intent score there, in [0, 1]; None when the run had no criteria."""
    best_selection_success: float | None
    """Share of selection rollouts that met every required criterion; None without criteria."""
    best_selection_return: float
    terms: tuple[TermStatistics, ...] = ()
    """Of the best checkpoint's selection rollouts, per step."""
    dynamics: dict[str, float] = {}
    """Numbers of the training itself, see `p2p.analysis.training_dynamics`."""
    warnings: tuple[str, ...] = ()
    """What looks wrong in them, in words."""


class RunResult(Contract):
    """One run in an aggregation. A failed run has an error and no numbers.

    One that ended early and is judged by its checkpoints has an error, and the numbers of the best of them.
    """

    run_id: FileName
    config_id: str
    seed: int
    status: Literal["completed", "error", "cancelled"]
    error: str | None = None
    final_return: float | None = None
    best_checkpoint: int | None = None
    selection_score: float | None = None
    selection_success: float | None = None
    selection_return: float | None = None


class ConfigAggregate(Contract):
    """One configuration over its completed seeds."""

    mean_best_score: float | None
    std_best_score: float | None
    mean_final_return: float | None
    std_final_return: float | None
    per_seed: tuple[RunResult, ...]


class CheckpointChoice(Contract):
    """A checkpoint of an iteration, written as "run_id/step"."""

    run_id: FileName
    step: int = Field(ge=0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "run_id/step".

        Raises:
            InvalidInput: it is nothing of the kind.
        """
        run_id, _, step = text.rpartition("/")
        try:
            return cls(run_id=run_id, step=int(step))
        except ValueError as error:
            raise InvalidInput(f"{text!r} is not a checkpoint: expected run_id/step.") from error

    def __str__(self) -> str:
        return f"{self.run_id}/{self.step}"


class CheckpointLook(Contract):
    """What eyes said of a checkpoint on its selection rollouts, before one was chosen."""

    run_id: FileName
    step: int
    accepted: bool
    """Whether it would pass by what is measured and what was seen."""
    score: float | None
    """Of both, in [0, 1]; None where they left it open."""
    diagnosis: str


class IterationAggregation(Contract):
    """All runs of an iteration (`aggregation.json`)."""

    best_config_id: str
    best_run_id: FileName
    best_checkpoint: int
    configs: dict[str, ConfigAggregate]
    by_checkpoints: bool = False
    """Whether it was made of the checkpoints of runs that ended early; a resumed training makes another."""
    looks: tuple[CheckpointLook, ...] = ()
    """The checkpoints that eyes looked at, to choose the best; empty where selection rollouts alone chose it."""


_NESTED: dict[str, type[Contract]] = {
    "start_states": StartStates,
    "terrain": Terrain,
    "observe": Observe,
    "commands": Commands,
    "end_when": Bound,
    "end_when_lost": Bound,
    "randomisation": Randomisation,
    "curriculum": Curriculum,
    "curriculum.starts": StartCurriculum,
    "curriculum.episodes": EpisodeGrowth,
    "curriculum.pushes": Pushes,
}


def known_keys(parent: str = "") -> tuple[str, ...]:
    """Keys of a configuration, or of the object under its key `parent`, CleanRL's spellings included."""
    if parent in _NESTED:
        return tuple(_NESTED[parent].model_fields)
    return (*TrainConfig.model_fields, *_CLEANRL_NAMES, "num_minibatches")


def parent_of(path: tuple[str, ...]) -> str:
    """Name of the innermost object of a configuration that the last key of `path` lies in; "" for the whole."""
    return next((name for end in range(len(path) - 1, 0, -1) if (name := ".".join(path[:end])) in _NESTED), "")


def nearest_key(path: tuple[str, ...]) -> str | None:
    """Known key most similar to an unknown one, with the keys above it; None if none is similar.

    Args:
        path: The unknown key, after those it lies under: `("start_states", "height")`.
    """
    *above, name = path
    close = get_close_matches(name, known_keys(parent_of(path)), n=1)
    return ".".join((*above, close[0])) if close else None


FOREIGN_KEYS = frozenset(
    {
        "anneal_lr",
        "checkpoint_interval",
        "clip_vloss",
        "engine",
        "eval_interval",
        "judgment_select",
        "minibatch_size",
        "norm_adv",
        "num_eval_envs",
        "num_eval_rounds",
        "num_iterations",
        "parallel_eval",
        "reward_term_avg_window",
        "torch_deterministic",
        "trajectory_precision",
        "trajectory_stride",
    }
)
"""Keys in a `config.json` of CleanRL or of the public Prompt2Policy that mean nothing here."""


def without_foreign_keys(fields: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields of a configuration file, and the names of those left out as another program's."""
    ignored = tuple(sorted(FOREIGN_KEYS & fields.keys()))
    kept = {name: value for name, value in fields.items() if name not in FOREIGN_KEYS}
    if ignored and "num_minibatches" in kept:
        kept.pop("batch_size", None)  # there the whole rollout; here what one step of the optimiser sees
    return kept, ignored


def canonical_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields under the names of `TrainConfig`."""
    return {_CLEANRL_NAMES.get(key, key): value for key, value in fields.items()}


_CLEANRL_NAMES = {
    "num_envs": "n_envs",
    "num_steps": "n_steps",
    "update_epochs": "n_epochs",
    "clip_coef": "clip_range",
    "obs_clip": "clip_obs",
    "reward_clip": "clip_reward",
    "num_eval_episodes": "n_eval_episodes",
}


class Purpose(StrEnum):
    """Why an episode is run. The seeds of two purposes never meet."""

    TRAINING = "training"
    SELECTION = "selection"
    """Chooses the checkpoint."""
    REPORT = "report"
    """Is reported, and chooses nothing."""
    EXAM = "exam"
    """Is scored by the exam of a suite, which the session has not seen; see `exam_seeds`."""


SEED_BLOCK = 100_000_000
SESSION_BLOCKS = 1_000_000
"""Numbers of blocks that the report seeds of sessions are spread over."""
EXAM_SEEDS = 10**15
"""First of the seeds of exam rollouts; those of every other purpose lie below it."""
EXAM_BLOCK = 10**6
EXAM_BLOCKS = 10**9
"""Numbers of blocks that exams are spread over: the last seed is exact as a double."""


def first_seed(purpose: Purpose, seed: int) -> int:
    """First environment seed for `purpose` under training seed `seed`; each block holds 100,000 of them.

    Raises:
        ValueError: `seed` is outside [0, 1000), where blocks would meet; or exams have other seeds, see `exam_seeds`.
    """
    if not 0 <= seed < 1000:
        raise ValueError(f"seed must lie in [0, 1000), got {seed}")
    if purpose is Purpose.EXAM:
        raise ValueError("the seeds of an exam do not depend on the training seed")
    return list(Purpose).index(purpose) * SEED_BLOCK + seed * 100_000


def report_seed_offset(session_id: str) -> int:
    """What a session adds to its first report seed: without it, all sessions of one training seed share their starts.

    A multiple of `SEED_BLOCK` below 1e14: such seeds lie above those of every other purpose, and are exact as doubles.
    """
    digest = hashlib.sha256(f"report {session_id}".encode()).digest()
    return SEED_BLOCK * (int.from_bytes(digest[:4]) % SESSION_BLOCKS)


def exam_seeds(name: str, n_rollouts: int) -> range:
    """Reset seeds of exam rollouts: the same for every policy that sits the exam called `name`."""
    number = int.from_bytes(hashlib.sha256(f"exam {name}".encode()).digest()[:8]) % EXAM_BLOCKS
    first = EXAM_SEEDS + EXAM_BLOCK * number
    return range(first, first + n_rollouts)


class Rollout(Contract):
    """One evaluation episode, as recorded."""

    seed: int
    """Seed of the environment's reset."""
    episode_return: float
    """Sum of the trained reward; of Gymnasium's own reward where the reward was not run."""
    length: int
    """[steps]."""
    label: str | None = None
    """"p10", "median" or "p90" for the three that are kept whole; None for the others."""


class StandardReturns(Contract):
    """Returns by Gymnasium's own reward, in episodes that end by its own rules (`returns.json`)."""

    first_seed: int
    """Seed of the first episode's reset; the others follow."""
    returns: tuple[float, ...]


class Robustness(Contract):
    """How a checkpoint did with robots that differ from the model, drawn as in its training; no verdict reads it."""

    success_rate: float
    """Share of rollouts that met every required criterion."""
    low: float
    """Lower end of its 95 % Wilson interval."""
    high: float
    n_rollouts: int

    @property
    def words(self) -> str:
        """The figure in a sentence."""
        return (
            f"With robots that differ from the model, as `randomisation` draws them, {self.success_rate:.0%} "
            f"[{self.low:.0%}, {self.high:.0%}] of {self.n_rollouts} rollouts met every required criterion."
        )


class Evaluation(Contract):
    """The rollouts of one checkpoint for one purpose."""

    run_id: FileName
    checkpoint: int
    """Step of the checkpoint."""
    purpose: Purpose
    dt: float
    """Control period [s]."""
    rollouts: tuple[Rollout, ...]
    robustness: Robustness | None = Field(default=None, exclude_if=lambda found: found is None)
    """Of as many further rollouts with randomised robots, from the same starts; None where its training had none."""
    sandbox: SandboxLevel | None = None
    """How the process that ran them was confined; None when it was not."""


class SelectedCheckpoint(Contract):
    """A checkpoint that was evaluated before, without the values of its terms."""

    step: int
    mean_return: float
    intent_score: float | None
    """In [0, 1]; None without criteria."""
    success_rate: float | None
    """In [0, 1]; None without criteria."""
    terms: tuple[str, ...]
    """Names of the reward's terms, in order."""
    row: dict[str, Any]
    """Its row of metrics."""


class ResumePoint(Contract):
    """A training after a number of rollouts (`resume/point.json`); what it has learned and simulated lies beside it."""

    inputs: dict[str, str]
    """What is trained and by which versions: a point of anything else is not used."""
    rollouts: int
    """So many are learned from."""
    seconds: float
    """What they took [s]; work that was lost does not count."""
    resumed: int
    """How often the training was resumed."""
    peak_memory_mb: int
    """[MiB]."""
    evaluated: tuple[SelectedCheckpoint, ...]
    """Checkpoints that have been evaluated, in the order of their steps."""
    pending: tuple[int, ...]
    """Steps of checkpoints whose evaluation was under way."""
    scalars_bytes: int = 0
    """Length of the metrics then."""
    digest: str = ""
    """SHA-256 of the file of arrays."""
