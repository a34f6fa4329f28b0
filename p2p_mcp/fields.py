"""Arguments that tools share, and arguments that are fields of a contract."""

from typing import Annotated

from pydantic import BaseModel, Field, WithJsonSchema
from pydantic.fields import FieldInfo

from p2p.contracts.background import StartTraining
from p2p.contracts.docstrings import description_of
from p2p.contracts.intent import MOST_CRITERIA, Criterion
from p2p.contracts.session import NewSession, Priority
from p2p.registry import backend_forms


def argument(model: type[BaseModel], name: str, description: str | None = None) -> FieldInfo:
    """Bounds and description of a contract's field, to annotate an argument with.

    Args:
        model: The contract.
        name: Its field.
        description: Read by models in the place of the field's own.
    """
    field = model.model_fields[name]
    made = FieldInfo(description=description or description_of(model, name))
    made.metadata = list(field.metadata)
    return made


SESSION_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"

SessionId = Annotated[
    str,
    Field(pattern=SESSION_ID, description="From create_session or list_sessions; or alias."),
    WithJsonSchema({"type": "string"}),  # twenty tools have one: their pattern would be 0.9 kB of what a model reads
]
JobId = Annotated[str, Field(pattern=r"^job_[0-9a-f]{32}$", description="From train_iteration or run_session.")]
Iteration = Annotated[int | None, Field(default=None, ge=1, le=1000, description="Its number; null: the newest.")]
WaitSeconds = Annotated[float, Field(ge=0, le=45, description="Wait so long for the job; returns when it ends. [s]")]
EnvironmentId = Annotated[str, Field(min_length=1, max_length=500, description="Id, or path of a MJCF or URDF file.")]
IdempotencyKey = Annotated[
    str | None,
    argument(StartTraining, "idempotency_key", "Any text; called again with it, nothing is started twice."),
]
Backend = Annotated[
    str | None,
    Field(max_length=80, description=f"{', '.join(backend_forms())} (see list_nodes); kept; null: as before."),
]
PriorityChoice = Annotated[
    Priority | None,
    argument(NewSession, "priority", f"{description_of(NewSession, 'priority')} null: as before."),
]
IterationNumber = Annotated[int, Field(ge=1, le=1000, description="Number of an iteration.")]
RunId = Annotated[
    str | None,
    Field(max_length=100, description='One training run, for example "baseline_seed_10"; null: all, or the best.'),
]
Criteria = Annotated[
    tuple[Criterion, ...] | None,
    Field(
        max_length=MOST_CRITERIA,
        description="What it is judged by, fixed before anything is trained. null: p2p derives them from the "
        "sentence. Each has a predicate over the environment's features, or none for what only eyes can judge.",
    ),
]
OtherCriteria = Annotated[
    tuple[Criterion, ...] | None,
    Field(max_length=MOST_CRITERIA),
    WithJsonSchema(
        {
            "type": ["array", "null"],
            "maxItems": MOST_CRITERIA,
            "items": {"type": "object"},
            "description": "Criteria as create_session takes them. null: they stay.",
        }
    ),
]
"""Criteria, with a schema that does not repeat the 5 kB of create_session's."""
EpisodeLength = Annotated[float | None, Field(gt=0, le=60, description="Length of the judged episodes [s].")]
Wish = Annotated[str, Field(max_length=300, description='A further wish of the user, such as "land softer"; kept.')]
