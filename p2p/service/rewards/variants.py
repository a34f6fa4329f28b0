"""Variants trained with the base configuration, and protection of fixed hyperparameters."""

from collections.abc import Mapping

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.reward import ConfigVariant, Revision, RewardDraft
from p2p.contracts.session import EventName, NewSession
from p2p.contracts.training import canonical_names
from p2p.service.models.session_models import steps_done
from p2p.service.training.plan import base_config, draft_with_commands
from p2p.store.sessions import SessionRecord
from p2p.training.tuning import HYPERPARAMETERS, TASK_FIELDS, without_hyperparameters
from p2p.training.variants import usual_variants, varied


def n_variants(session: NewSession) -> int:
    """Number of variants the author adds to the configurations set by a person."""
    return 0 if session.reward_only else max(0, session.n_configs - len(session.configs))


def settled(record: SessionRecord, number: int, draft: RewardDraft) -> RewardDraft:
    """Reward draft for training: without fixed hyperparameters, and with the wanted number of variants.

    The author's own variants come first, those that can be trained and differ; usual ones fill up. There are no more
    than the session's cap on environment steps has room for.

    Raises:
        InvalidConfig: what its author asks for cannot be trained.
    """
    session = record.read_session()
    draft = draft_with_commands(draft, session, record.read_criteria())
    if session.reward_only:
        left = without_hyperparameters(canonical_names(draft.config_changes))
        return draft.model_copy(update={"config_changes": left, "variants": ()})
    wanted = n_variants(session)
    if not wanted:
        return draft.model_copy(update={"variants": ()})
    base = base_config(session, draft)
    pinned = tuple(canonical_names(session.config))
    different: list[ConfigVariant] = []
    names = set(session.configs)
    configs = [base]
    for variant in (*draft.variants, *usual_variants(base, pinned)):
        try:
            config = varied(base, variant.changes, pinned)
        except InvalidConfig:
            continue
        if variant.config_id not in names and config not in configs:
            names.add(variant.config_id)
            configs.append(config)
            different.append(variant)
    chosen = different[:wanted]
    if (cap := session.caps.environment_steps) is not None:
        steps_of_one = session.n_seeds * base.total_timesteps
        affordable = (cap - steps_done(record)) // steps_of_one - len(session.configs)
        chosen = chosen[: max(0, affordable)]
    if len(chosen) < wanted:
        message = (
            f"{len(chosen)} of {wanted} variants of the configuration are trained: no more of them differ from it and "
            "fit into the cap on environment steps."
        )
        record.events.emit_once(EventName.GUARDRAIL, number, message=message)
    return draft.model_copy(update={"variants": tuple(chosen)})


def revision_within(session: NewSession, revision: Revision) -> Revision:
    """Revision limited to the reward if the hyperparameters are fixed; otherwise unchanged."""
    if not session.reward_only:
        return revision
    kept = tuple(change for change in revision.changes if change.kind == "reward" or change.name in TASK_FIELDS)
    left = without_hyperparameters(canonical_names(revision.config_changes))
    return revision.model_copy(update={"changes": kept, "config_changes": left, "variants": ()})


def refuse_fixed(session: NewSession, changes: Mapping[str, object]) -> None:
    """Refuse changes of fixed hyperparameters.

    Raises:
        InvalidConfig: it wants to change hyperparameters, and they are fixed.
    """
    wanted = sorted(set(canonical_names(changes)) & set(HYPERPARAMETERS))
    if session.reward_only and wanted:
        raise InvalidConfig(
            f"The hyperparameters are fixed in this session, {', '.join(wanted)} among them. Leave them out of "
            f"config_changes, which may set {', '.join(TASK_FIELDS)}."
        )
