"""Training configuration of each run."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from p2p.contracts.background import StartTraining
from p2p.contracts.commands import Commands
from p2p.contracts.curriculum import Curriculum
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Intent
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, Session
from p2p.contracts.start_policy import StartPolicy
from p2p.contracts.terrain import Terrain
from p2p.contracts.training import EffectiveConfig, TrainConfig, canonical_names, known_keys, nearest_key, parent_of
from p2p.service.wording import field_problem
from p2p.store.sessions import SessionRecord
from p2p.training.presets import preset
from p2p.training.tuning import check_bounds

GOING_ON_RATE = 0.25
"""Share of the preset's learning rate with which a session goes on from a policy that it chose itself: its noise is
small by then, and steps of the whole length spoil what it does."""
EVALUATION_STEPS = 500_000
"""Most steps between two evaluations of a long training: what passes early ends it early."""
MOST_EVALUATIONS = 40
"""Of a training by this rule, however long it is."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def session_for(record: SessionRecord, number: int) -> Session:
    """Session settings as of iteration `number`, without changes meant for later iterations.

    Criteria that were met by what eyes refused do not end a training early, until they have been made stricter.
    """
    session = record.read_session()
    later = [change for change in record.read_settings_changes() if change.from_iteration > number]
    if later:
        session = session.model_copy(update=later[0].before.model_dump())
    if unanswered_vetoes(record, number):
        return session.model_copy(update={"stop_when_clear": False})
    return session


def unanswered_vetoes(record: SessionRecord, number: int) -> tuple[int, ...]:
    """Earlier iterations vetoed by eyes with no stricter criterion since.

    What is measured does not tell what eyes saw in them: it ends no training early, and chooses no checkpoint alone.
    """
    tightened = max((change.after_iteration for change in record.read_tightenings()), default=0)
    judgments = ((index, record.iteration(index).read_judgment()) for index in range(max(1, tightened + 1), number))
    return tuple(index for index, judgment in judgments if judgment is not None and judgment.vetoed_by_eyes)


def base_config(session: NewSession, draft: RewardDraft) -> TrainConfig:
    """Preset of the environment, with the changes of the reward's author, then those of the user.

    Raises:
        InvalidConfig: a key is misspelt or a value is out of range.
    """
    return _config(session, draft, {})


def terrain_of(session: NewSession) -> Terrain | None:
    """Ground of a session; None for the floor of its robot's model."""
    return first_config(session, RewardDraft(source="")).terrain


def first_config(session: NewSession, draft: RewardDraft) -> TrainConfig:
    """The session's first configuration at its first training seed.

    Raises:
        InvalidConfig: a key is misspelt or a value is out of range.
    """
    _check_names(session.configs)
    return _config(session, draft, {**next(iter(session.configs.values())), "seed": session.seeds[0]})


def run_configs(
    session: NewSession, draft: RewardDraft, start: StartTraining | None = None, policy: StartPolicy | None = None
) -> dict[tuple[str, int], TrainConfig]:
    """Configuration of every run, by configuration id and training seed; `start` wins.

    What the networks of `policy` fix, from which they go on, takes the place of the preset's.

    Raises:
        InvalidConfig: a key is misspelt or a value is out of range.
    """
    start = start or StartTraining()
    configs = start.configs or session.configs
    _check_names(configs)
    steps = {} if start.total_timesteps is None else {"total_timesteps": start.total_timesteps}
    drafts = {config_id: (draft, fields) for config_id, fields in configs.items()}
    if start.configs is None:
        base = next(iter(configs.values()))
        drafts |= {variant.config_id: (as_trained(draft, variant.config_id), base) for variant in draft.variants}
    return {
        (config_id, seed): _config(session, trained, {**fields, **steps, "seed": seed}, policy)
        for config_id, (trained, fields) in drafts.items()
        for seed in start.seeds or session.seeds
    }


def _check_names(configs: Collection[str]) -> None:
    """Refuse names that cannot be part of a directory name."""
    if not configs:
        raise InvalidConfig("There must be one configuration at least, such as baseline.")
    wrong = [name for name in configs if not _NAME.fullmatch(name)]
    if wrong:
        raise InvalidConfig(
            "A configuration is called by lower-case letters, digits, '_' and '-', at most 40 of them, as baseline is; "
            f"got {wrong[0][:80]!r}."
        )


def as_trained(draft: RewardDraft, config_id: str) -> RewardDraft:
    """Draft with the configuration changes it was trained with, including those of its variant."""
    variant = next((variant for variant in draft.variants if variant.config_id == config_id), None)
    if variant is None:
        return draft
    changes = {**canonical_names(draft.config_changes), **variant.changes}
    return draft.model_copy(update={"config_changes": changes})


def effective_config(
    session: NewSession, draft: RewardDraft, start: StartTraining | None = None, policy: StartPolicy | None = None
) -> EffectiveConfig:
    """First configuration of a training, with the source of each field.

    Args:
        session: Whose training.
        draft: Its reward; one without source before the first.
        start: What the call says that starts the training.
        policy: What it goes on from; what its networks fix counts as said by that call.

    Raises:
        InvalidConfig: a key is misspelt or a value is out of range.
    """
    start = start or StartTraining()
    steps = {} if start.total_timesteps is None else {"total_timesteps": start.total_timesteps}
    own = {**next(iter((start.configs or session.configs).values()), {}), **steps}
    layers = _layers(session, draft, own, policy)
    values = parse_config(_merged(layers)).model_dump(mode="json", exclude={"seed", "iteration_id"})
    origin = {name: who for who, fields in layers for name in fields}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        groups.setdefault(origin.get(name, "default"), {})[name] = value
    return EffectiveConfig(**groups)


def _config(
    session: NewSession, draft: RewardDraft, fields: dict[str, object], policy: StartPolicy | None = None
) -> TrainConfig:
    return parse_config(_merged(_layers(session, draft, fields, policy)))


def _layers(
    session: NewSession, draft: RewardDraft, fields: Mapping[str, object], policy: StartPolicy | None = None
) -> tuple[tuple[str, dict[str, object]], ...]:
    """Layers of settings in order, the last one winning; names as in `EffectiveConfig`.

    Raises:
        InvalidConfig: the reward's author asks for what an author may not choose.
    """
    check_bounds(canonical_names(draft.config_changes))
    stop: dict[str, object] = {"stop_at_score": session.pass_threshold} if session.stop_when_clear else {}
    chosen: tuple[tuple[str, dict[str, object]], ...] = (
        ("session", stop),
        ("reward", _left_open(canonical_names(draft.config_changes), policy)),
        ("session", canonical_names(session.config)),
        ("training", canonical_names(fields)),
        ("session", {"env_id": session.env_id}),
    )
    # Length of the training; 0 for a non-number, which is refused later.
    steps = _merged(chosen).get("total_timesteps", 0)
    taken_over: dict[str, object] = dict(policy.config) if policy is not None else {}
    usual = _usual(session, steps if isinstance(steps, int) else 0, policy)
    return (("preset", usual), ("training", taken_over), *chosen)


def _usual(session: NewSession, steps: int, policy: StartPolicy | None) -> dict[str, object]:
    """What suits a robot, the length of a training, and a policy that the session itself goes on from."""
    found = preset(session.env_id, steps, session.preset)
    if steps > EVALUATION_STEPS * TrainConfig().num_evals:
        evaluations = min(math.ceil(steps / EVALUATION_STEPS), MOST_EVALUATIONS)
        found |= {"num_evals": max(evaluations, TrainConfig.model_validate(found).num_evals)}
    if policy is not None and policy.proposed_by:
        found |= {"learning_rate": GOING_ON_RATE * TrainConfig.model_validate(found).learning_rate}
    return found


def _left_open(changes: dict[str, object], policy: StartPolicy | None) -> dict[str, object]:
    """What a reward asks for, as far as the policy that is gone on from leaves it open.

    That policy keeps its observation; of a curriculum that it has been through, only the end is left.
    """
    if policy is None:
        return changes
    changes = {name: value for name, value in changes.items() if name != "observation"}
    if policy.curriculum is None or changes.get("curriculum") is None:
        return changes
    try:
        asked = Curriculum.model_validate(changes["curriculum"])
    except ValidationError:
        return changes  # refused, in words, where the whole configuration is parsed
    if asked != policy.curriculum:
        return changes
    ended = asked.ended()
    return changes | {"curriculum": None if ended is None else ended.model_dump(mode="json")}


def _merged(layers: Iterable[tuple[str, dict[str, object]]]) -> dict[str, object]:
    return {name: value for _, fields in layers for name, value in fields.items()}


def parse_config(fields: dict[str, object]) -> TrainConfig:
    """Parse a configuration from plain values.

    Raises:
        InvalidConfig: naming each wrong key or value, with the nearest known key.
    """
    try:
        return TrainConfig.model_validate(fields)
    except ValidationError as error:
        raise InvalidConfig("\n".join(["The training configuration is not valid:", *_explanations(error)])) from error


def commands_of(config: Mapping[str, object]) -> Commands | None:
    """Commands that a session's own configuration gives; None where it gives none.

    Raises:
        InvalidConfig: a range of them is wrong.
    """
    given = config.get("commands")
    return None if given is None else parse_config({"commands": given}).commands


def intent_with_commands(intent: Intent, config: Mapping[str, object]) -> Intent:
    """Intent that is judged by the commands of a session's own configuration, where that gives some.

    Raises:
        InvalidConfig: the configuration switches commands off, and the intent is about them.
    """
    commands = commands_of(config)
    if intent.commands is not None and "commands" in config and commands is None:
        raise InvalidConfig("The sentence is about commands, and the configuration has none: leave `commands` out.")
    return intent if commands is None else intent.model_copy(update={"commands": commands})


def draft_with_commands(draft: RewardDraft, session: NewSession, intent: Intent | None) -> RewardDraft:
    """Draft whose training has the commands that the criteria are about, where nobody chose others for it."""
    if intent is None or intent.commands is None or "commands" in {**session.config, **draft.config_changes}:
        return draft
    changes = {**draft.config_changes, "commands": intent.commands.model_dump(mode="json")}
    return draft.model_copy(update={"config_changes": changes})


def _explanations(error: ValidationError) -> Iterator[str]:
    """One line per wrong key or value; then the list of valid keys once, if an unknown key resembles none."""
    parents = set[str]()
    for problem in error.errors():
        path = tuple(str(part) for part in problem["loc"])
        if problem["type"] != "extra_forbidden":
            yield field_problem(problem)
        elif close := nearest_key(path):
            yield f"  {'.'.join(path)}: unknown key; did you mean {close!r}?"
        else:
            parents.add(parent_of(path))
            yield f"  {'.'.join(path)}: unknown key"
    for parent in sorted(parents):
        yield f"Known keys{f' of {parent}' if parent else ''}: {', '.join(known_keys(parent))}."
