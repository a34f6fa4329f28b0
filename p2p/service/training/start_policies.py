"""The policy that an iteration's trainings go on from: whether it fits, and its copy in the iteration."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from p2p.contracts.curriculum import Curriculum
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.session import EventName
from p2p.contracts.start_policy import FIXED, StartPolicy
from p2p.contracts.training import TrainConfig
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord
from p2p.store.start_policies import StartRecord
from p2p.training.tuning import OBSERVATION

RESUMES_NOTHING = "An optimiser goes on with that of a policy: say from which policy, in from_policy."
FROM_ZERO_INSTEAD = "or train from zero, without a policy to go on from."


@dataclass(frozen=True, slots=True)
class KeptPolicy:
    """A checkpoint on disk."""

    session_id: str
    iteration: int
    run: IterationRecord
    step: int

    def start(self, *, resume_optimizer: bool = False) -> StartPolicy:
        """Facts of a training that goes on from it.

        Raises:
            InvalidInput: its policy cannot be read, or its optimiser was not kept.
        """
        config = self.run.read_config()
        checkpoint = self.run.checkpoint(self.step)
        digest = files.sha256(checkpoint.policy_path)
        if config is None or digest is None:
            raise InvalidInput(
                f"{self.run.iteration_id} of {self.session_id} has no policy at step {self.step:,} that can be read."
            )
        optimizer = (files.sha256(checkpoint.optimizer_path) or "") if resume_optimizer else ""
        if resume_optimizer and not optimizer:
            raise InvalidInput(
                f"The checkpoint at step {self.step:,} of {self.run.iteration_id}, {self.session_id}, was kept without "
                "its optimiser, as earlier versions did. Go on from it with a fresh one."
            )
        fixed = config.model_dump(mode="json", include=set(FIXED))
        return StartPolicy(
            session_id=self.session_id,
            iteration=self.iteration,
            run_id=self.run.iteration_id,
            checkpoint=self.step,
            steps=self.step + self.run.inherited_steps,
            sha256=digest,
            optimizer_sha256=optimizer,
            config=fixed,
            curriculum=self._curriculum(config),
        )

    def _curriculum(self, config: TrainConfig) -> Curriculum | None:
        """That of its training; where this one went on behind another, that other."""
        before = self.run.start_policy.read()
        behind = before.curriculum if before is not None else None
        return behind if behind is not None and behind.ended() == config.curriculum else config.curriculum

    def copy_to(self, target: StartRecord, *, resume_optimizer: bool = False, proposed_by: str = "") -> StartPolicy:
        """Copy it into a session or an iteration.

        Raises:
            InvalidInput: as `start`.
        """
        start = self.start(resume_optimizer=resume_optimizer).model_copy(update={"proposed_by": proposed_by})
        checkpoint = self.run.checkpoint(self.step)
        target.copy_in(start, checkpoint.policy_path, checkpoint.optimizer_path)
        return start


def settle_start(record: SessionRecord, iteration: IterationRecord) -> StartPolicy | None:
    """The policy that an iteration goes on from, copied into its directory; None where it begins from zero.

    It is what its caller chose, else what the revision before decided, else for the first iteration what the session
    was created with. Where the files that the revision chose are gone, it begins from zero, and an event says so.

    Raises:
        InvalidInput: a copy is damaged.
    """
    target = iteration.start_policy
    if (there := target.read()) is not None:
        return there
    if iteration.number == 1:
        target.copy_from(record.start_policy)
        return target.read()
    revision = record.iteration(iteration.number - 1).read_revision()
    decision = revision.start if revision is not None else None
    if decision is None or decision.from_iteration is None:
        return None
    found = judged_policy(record, decision.from_iteration)
    if found is None:
        gone = (
            f"The policy of iteration {decision.from_iteration} is gone: iteration {iteration.number} begins from zero."
        )
        record.events.emit_once(EventName.GUARDRAIL, iteration.number, message=gone)
        return None
    return found.copy_to(target, proposed_by=decision.reason)


def judged_policy(record: SessionRecord, number: int) -> KeptPolicy | None:
    """The policy that an iteration was judged by; None where it was not, or its files are gone."""
    iteration = record.iteration(number)
    judgment = iteration.read_judgment()
    if judgment is None or judgment.run_id is None or judgment.best_checkpoint is None:
        return None
    run = IterationRecord(iteration.path / judgment.run_id)
    if not run.checkpoint(judgment.best_checkpoint).policy_path.exists():
        return None
    return KeptPolicy(record.session_id, number, run, judgment.best_checkpoint)


def require_fit(start: StartPolicy, configs: Iterable[TrainConfig]) -> None:
    """Refuse a configuration that asks for other networks than those of the policy, but for inputs that are new.

    Raises:
        InvalidConfig: one does.
    """
    for config in configs:
        values = config.model_dump(mode="json", include=set(FIXED))
        for name, had in start.config.items():
            told_more = name in ("observe", "commands") and had is None  # who was told nothing may be told more
            ranges = name == "commands" and None not in (values[name], had)
            if values[name] != had and not (told_more or ranges):
                raise InvalidConfig(
                    f"{name} is {values[name]!r} in this training and {had!r} in the policy it would go on from "
                    f"({start.words}). Leave {name} out, so that it is taken over from the policy; "
                    f"{FROM_ZERO_INSTEAD}"
                )


def require_same_interface(found: KeptPolicy, env: EnvSpec, env_kwargs: Mapping[str, object]) -> None:
    """Refuse a policy of another observation or action.

    Args:
        found: The policy.
        env: The environment that is trained in.
        env_kwargs: What it is made with.

    Raises:
        InvalidInput: it sees or does something else; the message says what.
    """
    theirs = found.run.read_env_spec()
    config = found.run.read_config()
    if theirs is None or config is None:
        raise InvalidInput(f"{found.run.path} lacks its environment or its configuration.")
    where = f"{found.run.iteration_id} of {found.session_id}, trained in {theirs.env_id}"
    if (here := [one.name for one in env.action]) != (had := [one.name for one in theirs.action]):
        raise InvalidInput(_other(where, "actions", env.env_id, here, had))
    if (here := _seen(env)) != (had := _seen(theirs)):
        raise InvalidInput(_other(where, "observations", env.env_id, here, had))
    wanted, was = (_of_the_body(kwargs) for kwargs in (env_kwargs, config.env_kwargs))
    if wanted != was:
        raise InvalidInput(
            f"The policy of {where}, saw its environment with {was or 'no env_kwargs'}, and this training would with "
            f"{wanted or 'none'}. Train with the same env_kwargs, {FROM_ZERO_INSTEAD}"
        )


def _seen(env: EnvSpec) -> list[str]:
    return [f"{one.name} ({one.quantity})" for one in env.observation]


def _of_the_body(env_kwargs: Mapping[str, object]) -> dict[str, object]:
    """Those that change what a policy sees, or the body that it moves."""
    return {name: value for name, value in env_kwargs.items() if OBSERVATION.fullmatch(name) or name == "xml_file"}


def _other(where: str, what: str, env_id: str, here: list[str], had: list[str]) -> str:
    pairs = enumerate(zip(here, had, strict=False))
    differing = (f"the first that differs is {i}: {a} here, {b} there" for i, (a, b) in pairs if a != b)
    first = next(differing, "one has more of them")
    return (
        f"The policy of {where}, does not fit {env_id}: expected its {len(here)} {what}, got {len(had)}; {first}. "
        f"Go on from a policy of the same robot, {FROM_ZERO_INSTEAD}"
    )
