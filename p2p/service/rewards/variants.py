"""What is trained beside the base of an iteration, and that nothing is changed which is fixed."""

from collections.abc import Iterable, Mapping

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.events import EventName
from p2p.contracts.revision import Revision
from p2p.contracts.reward import ConfigVariant, RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig, canonical_names
from p2p.service.models.session_models import steps_done
from p2p.service.training.plan import base_config
from p2p.store.sessions import SessionRecord
from p2p.training.tuning import HYPERPARAMETERS, TASK_FIELDS, without_hyperparameters
from p2p.training.variants import usual_variants, varied


def n_variants(session: NewSession) -> int:
    """How many variants of the base its author adds to what a person configured."""
    return 0 if session.reward_only else max(0, session.n_configs - len(session.configs))


def settled(record: SessionRecord, number: int, draft: RewardDraft) -> RewardDraft:
    """A reward as it is trained: without hyperparameters where they are fixed, with variants where several are wanted.

    The author's own variants come first, those that can be trained and differ; usual ones fill up. There are no more
    than the session's cap on environment steps has room for.

    Raises:
        InvalidConfig: what its author asks for cannot be trained.
    """
    session = record.read_session()
    if session.reward_only:
        left = without_hyperparameters(canonical_names(draft.config_changes))
        return draft.model_copy(update={"config_changes": left, "variants": ()})
    wanted = n_variants(session)
    if not wanted:
        return draft.model_copy(update={"variants": ()})
    base = base_config(session, draft)
    pinned = tuple(canonical_names(session.config))
    proposed = (*draft.variants, *usual_variants(base, pinned))
    chosen = _different(proposed, base, session)[: min(wanted, _room(record, session, base))]
    if len(chosen) < wanted:
        message = (
            f"{len(chosen)} of {wanted} variants of the configuration are trained: no more of them differ from it and "
            "fit into the cap on environment steps."
        )
        record.events.emit_once(EventName.GUARDRAIL, number, message=message)
    return draft.model_copy(update={"variants": tuple(chosen)})


def revision_within(session: NewSession, revision: Revision) -> Revision:
    """A revision that changes the reward alone, where the hyperparameters are fixed; any other one as it is."""
    if not session.reward_only:
        return revision
    kept = tuple(change for change in revision.changes if change.kind == "reward" or change.name in TASK_FIELDS)
    left = without_hyperparameters(canonical_names(revision.config_changes))
    return revision.model_copy(update={"changes": kept, "config_changes": left, "variants": ()})


def refuse_fixed(session: NewSession, changes: Mapping[str, object]) -> None:
    """Do nothing where a caller may change what it wants to.

    Raises:
        InvalidConfig: it wants to change hyperparameters, and they are fixed.
    """
    wanted = sorted(set(canonical_names(changes)) & set(HYPERPARAMETERS))
    if session.reward_only and wanted:
        raise InvalidConfig(
            f"The hyperparameters are fixed in this session, {', '.join(wanted)} among them. Leave them out of "
            f"config_changes, which may set {', '.join(TASK_FIELDS)}."
        )


def _different(proposed: Iterable[ConfigVariant], base: TrainConfig, session: NewSession) -> list[ConfigVariant]:
    """Those that can be trained, each with a name and with values of its own."""
    pinned = tuple(canonical_names(session.config))
    found: list[ConfigVariant] = []
    names, configs = set(session.configs), [base]
    for variant in proposed:
        try:
            config = varied(base, variant.changes, pinned)
        except InvalidConfig:
            continue
        if variant.config_id not in names and config not in configs:
            names.add(variant.config_id)
            configs.append(config)
            found.append(variant)
    return found


def _room(record: SessionRecord, session: NewSession, base: TrainConfig) -> int:
    """How many variants fit into what is left of the environment steps, beside what is trained anyway."""
    cap = session.caps.environment_steps
    if cap is None:
        return session.n_configs
    of_one = session.n_seeds * base.total_timesteps
    return max(0, (cap - steps_done(record)) // of_one - len(session.configs))
