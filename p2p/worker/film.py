"""Verb `film`: videos and exports of finished runs for people, made in idle time.

Videos of every checkpoint, and where stable-baselines3 is installed its files of the same policies. A training itself
imports neither a renderer nor torch.
"""

from importlib.util import find_spec
from pathlib import Path

from p2p import registry
from p2p.contracts.errors import InvalidInput
from p2p.store.iterations import IterationRecord
from p2p.store.policy import load_policy
from p2p.worker.engine.environment import compiled_model, make_environment
from p2p.worker.export.formats import WRITERS
from p2p.worker.pictures.report_pictures import film
from p2p.worker.render.find_renderer import draws
from p2p.worker.rollout.episodes import LABELS
from p2p.worker.rollout.policy_inputs import input_space


def film_runs(job_dir: Path) -> None:
    """Complete the runs that the request in `job_dir` names, the best checkpoint of each first.

    Raises:
        InvalidInput: the request is missing, or names what is not a finished run.
    """
    request = IterationRecord(job_dir).read_film_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request that names runs to make videos of.")
    for name in request.runs:
        record = IterationRecord((job_dir / name).resolve())
        config = record.read_config()
        spec = record.read_env_spec()
        summary = record.read_summary()
        if config is None or spec is None or summary is None:
            raise InvalidInput(f"{record.path} holds no finished run to make videos of.")
        checkpoints = {checkpoint.step: checkpoint for checkpoint in record.checkpoints()}
        steps = dict.fromkeys([summary.best_checkpoint or max(checkpoints), *checkpoints])
        model = compiled_model(spec, config.env_kwargs, config.terrain)
        places = [(step, label) for step in steps for label in LABELS] if draws() else []
        film(spec, model, [(record.trajectory(*place), record.video(*place)) for place in places])
        if find_spec("stable_baselines3") is not None:
            save = registry.load("format", WRITERS, "sb3")
            env = make_environment(spec, config.env_kwargs)
            spaces = input_space(env.observation_space, config, spec), env.action_space
            for checkpoint in [checkpoints[step] for step in steps]:
                policy = load_policy(checkpoint.policy_path)
                save(policy, config, spaces, checkpoint.model_path, checkpoint.normalizer_path, checkpoint.step)
