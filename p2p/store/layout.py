"""Every file and directory name under the runs directory."""

import re
from collections.abc import Sequence

# a session
SESSION = "session.json"
CRITERIA = "criteria.json"
KNOWN_MOTIONS = "known_motions"
"""Job directory of the motions that judge functions are tried on."""
STATUS = "status.json"
METADATA = "metadata.json"
LINEAGE = "lineage.json"
EVENTS = "events.jsonl"
STATUS_LOCK = "status.lock"
"""Held while the status changes."""
METADATA_LOCK = "metadata.lock"
CRITERIA_LOCK = "criteria.lock"
STEP_LOCK = "step.lock"
"""Held while a caller's step changes what the session holds."""
DRIVER = "driver"
"""Job directory of the process that drives it."""
CALLS = "calls"
"""What models were asked and answered, a file for each call."""
CALL_LEDGER = "ledger.jsonl"
CALL_LOCK = "ledger.lock"
TRANSCRIPT = "transcript.jsonl"
"""Of the agent that works on it."""
FILM = "film"
"""Job directory of the videos of all checkpoints, made after the verdict."""

LOGGING = "logging"
"""Job directory of the process that keeps the logs for other programs."""
LOGGING_LOCK = "logging.lock"
LOG_REQUEST = "asked"
"""In it: changed by whoever has something to be logged."""

# an iteration
REWARD_FN = "reward_fn.py"
DRAFT = "draft.json"
PLAN = "plan.json"
CANDIDATES = "candidates.json"
"""Which of several rewards became that of the iteration."""
REPORT = "report"
"""Job directory of the report rollouts."""
LEARNING_CURVE = "learning_curve.png"
CONTACT_SHEET = "contact_sheet.jpg"
CONTACT_SHEET_NOTES = "contact_sheet.json"
"""Which moments the contact sheet shows."""
FRAMES = "frames"
"""The same moments as pictures of their own."""
SEEN = "seen"
"""Pictures exactly as judges were sent them, each named by the hash of its bytes."""
VIEWS = "views"
"""Jobs of the pictures and plots that somebody asked for, each in a directory named by what was asked."""
VIEW_SHEET = "sheet.jpg"
VIEW_VIDEO = "video.mp4"
PLOT = "plot.png"

# the runs directory itself
NAMES_LOCK = "names.lock"
"""Held while a session gets another alias, for no two have the same."""
BENCHMARK = "benchmark"
"""Runs of suites, a directory for each."""
REMOVING = ".removing"
"""Sessions that are being deleted for good."""
INDEX = "index.sqlite"
ENVIRONMENTS = "environments"
ROBOTS = "robots.json"
"""In it: the names that robots were given."""
ROBOTS_LOCK = "robots.lock"
"""Facts of environments described on the fly."""
TRIALS = "trials"
"""Job directories of rewards that are tried and not kept."""
TRANSCRIPTS = "transcripts"
"""Of agents that have no session yet."""

TRAINING_REQUEST = "training_request.json"

# background jobs
JOBS = "jobs"
"""A directory for each job that was started to go on by itself."""
TICKET = "ticket.json"
JOB_END = "end.json"
"""How a job stood when it had ended."""
JOB_KEYS = "keys"
JOB_STARTING = "starting"
"""Locked by whoever is starting a job."""
JOB_ID = r"job_[0-9a-f]{32}"

# a run, which is also a job
CONFIG = "config.json"
REQUEST = "request.json"
RESULT = "result.json"
METRICS = "metrics"
SCALARS = "scalars.jsonl"
TRAJECTORIES = "trajectories"
VIDEOS = "videos"

RESUME = "resume"
"""From where an interrupted training goes on; gone when the run has ended."""
RESUME_POINT = "point.json"
SAVING = "saving"
"""In place of the digest of arrays that are being written."""
SET_ASIDE = "_unusable"
"""Added to the directory of a resume point that is not used."""

# a call of generated code
ARRAYS = "arrays.npz"

# known motions
CLIPS = "clips.json"
CLIP_STATES = "states.npz"

# a checkpoint
POLICY = "policy.npz"
OPTIMIZER = "optimizer.npz"
"""State of the optimiser, for a training that goes on from the policy."""
START_POLICY = "start_policy.json"
"""Which policy a training goes on from; its files are copied to the two below."""
START_POLICY_ARRAYS = "start_policy.npz"
START_OPTIMIZER = "start_optimizer.npz"
SB3_MODEL = "model.zip"
SB3_NORMALIZER = "vecnormalize.pkl"
EVALUATION = "evaluation.json"
FEATURES = "features.npz"

# an export
PACKAGE = "package"
"""In the job of an export: what is handed out, under the names the Hugging Face Hub gives its parts."""
MODEL_CARD = "README.md"
EXPORT_REPORT = "export.json"
ONNX_MODEL = "policy.onnx"
TORCHSCRIPT_MODEL = "policy.pt"
REPLAY_SCRIPT = "replay.py"
REPLAY_VIDEO = "replay.mp4"

# a job
JOB = "job.json"
LOCK = "lock"
HANDLE = "handle.json"
OUTPUT_LOG = "output.log"
CANCEL = "cancel"
REMOTE = "remote.json"
"""Where the remote directory of a job is that runs on a node."""
MIRROR_LOCK = "mirror.lock"
"""Held while a job's directory is brought up to date with the one on the node; its modification time tells when."""
PLACED = "placed.json"
"""How a job was handed to the scheduler of a cluster."""
PLACED_LOCK = "placed.lock"
SCHEDULER_LOG = "scheduler.log"
"""What the scheduler's job printed itself, such as why the interpreter could not be started."""

# beside the configuration file
CLUSTERS = "clusters.json"
CLUSTERS_LOCK = "clusters.lock"
NODES = "nodes.json"
NODES_LOCK = "nodes.lock"
NODES_KEY = "nodes_key"
KNOWN_HOSTS = "known_hosts"
SERVED_MODELS = "served_models.json"
SERVED_MODELS_LOCK = "served_models.lock"

ITERATION = re.compile(r"iter_(\d+)")
RUN = re.compile(r"(?P<config>[a-z0-9][a-z0-9_-]*)_seed_(?P<seed>\d+)")
CANDIDATE = re.compile(r"candidate_\d+(_mended)?")
IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""What a session, iteration, run or job may be called."""


def iteration_name(number: int) -> str:
    """Directory name of iteration `number`, from 1."""
    return f"iter_{number}"


def run_name(config_id: str, seed: int) -> str:
    """Directory of one run."""
    return f"{config_id}_seed_{seed}"


def candidate_name(number: int, *, mended: bool = False) -> str:
    """Directory of a candidate, from 1."""
    return f"candidate_{number}{'_mended' if mended else ''}"


def trajectory_name(step: int, label: str) -> str:
    """File of a whole rollout."""
    return f"trajectory_{step}_{label}.npz"


def eval_video_name(step: int, label: str) -> str:
    """Video of a rollout made while training."""
    return f"eval_{step}_{label}.mp4"


def report_video_name(label: str) -> str:
    """Video of a report rollout."""
    return f"report_{label}.mp4"


def call_name(number: int) -> str:
    """File of one call of a model, from 1."""
    return f"{number}.json"


def frame_name(index: int) -> str:
    """Picture of one moment, from 1."""
    return f"frame_{index:02d}.jpg"


def resume_arrays_name(digest: str) -> str:
    """Arrays of a resume point, by the digest of the file."""
    return f"{digest}.npz"


def export_name(iteration_id: str, run_id: str, step: int, formats: Sequence[str]) -> str:
    """Folder of a checkpoint exported to `formats`."""
    return "_".join((iteration_id, run_id, str(step), *formats))


def served_model_log(port: int) -> str:
    """Log file of the model server at a port."""
    return f"vllm_{port}.log"
