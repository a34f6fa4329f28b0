"""What people say of a session: wishes, scores of rollouts, caps; what it costs; which of two policies is better."""

from typing import Annotated

from fastapi import Query

from p2p.contracts.brief import Steering
from p2p.contracts.inference import SessionCosts
from p2p.contracts.judgment import Labels
from p2p.contracts.label_queue import LabelQueue
from p2p.contracts.preference import Preference
from p2p.contracts.session import SettingsRequest
from p2p.contracts.spending import Caps
from p2p.service.judging.label_queue import label_queue
from p2p.service.judging.labelling import label_rollout, labels
from p2p.service.judging.preferring import person_prefers, prefer
from p2p.service.models.session_models import costs, set_caps
from p2p.service.sessions.settings_changes import change_settings
from p2p.service.sessions.steering import steer, wishes
from p2p.web.arguments import SessionId, Ws
from p2p.web.router import Router
from p2p.web.schemas import CapChanges, LabelRequest, PersonPreference, PreferenceRequest, Wish

router = Router(prefix="/api", tags=["judging"])
PERSON = "a person, in the browser"


@router.get("/sessions/{session_id}/wishes")
def wishes_of(ws: Ws, session_id: SessionId) -> Steering:
    """What was wished so far, and which settings changed."""
    return wishes(ws, session_id)


@router.post("/sessions/{session_id}/wishes", status_code=201)
def wish(ws: Ws, session_id: SessionId, request: Wish) -> Steering:
    """Tell the model that writes the next reward what to do differently."""
    return steer(ws, session_id, request.wish)


@router.patch("/sessions/{session_id}/settings")
def settings(ws: Ws, session_id: SessionId, request: SettingsRequest) -> Steering:
    """Change settings for trainings that have not begun yet."""
    change_settings(ws, session_id, request, by=PERSON)
    return wishes(ws, session_id)


@router.get("/sessions/{session_id}/labels")
def labels_of(ws: Ws, session_id: SessionId) -> Labels:
    """People's scores of its rollouts, and how far its judges agree with them."""
    return labels(ws, session_id)


@router.post("/sessions/{session_id}/labels", status_code=201)
def label(ws: Ws, session_id: SessionId, request: LabelRequest) -> Labels:
    """Score a recorded rollout; no verdict changes."""
    return label_rollout(ws, session_id, **request.model_dump())


@router.get("/labels")
def all_labels(ws: Ws) -> Labels:
    """Those of all sessions."""
    return labels(ws)


@router.get("/labels/queue")
def queue(
    ws: Ws,
    annotator: Annotated[str, Query(min_length=1, max_length=100)],
    session: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> LabelQueue:
    """Judged rollouts that a person has not scored yet, in an order of their own; verdicts are not told."""
    return label_queue(ws, annotator, session, limit)


@router.post("/sessions/{session_id}/preferences", status_code=201)
def preference(ws: Ws, session_id: SessionId, request: PersonPreference) -> Preference:
    """Keep which of two policies a person finds better; no verdict changes."""
    pair = (request.first, request.second)
    return person_prefers(ws, session_id, pair, request.better, request.reason, request.label)


@router.post("/sessions/{session_id}/preferences/ask", status_code=201)
def ask(ws: Ws, session_id: SessionId, request: PreferenceRequest) -> Preference:
    """Ask the session's eyes which of two policies does better; no verdict changes. It costs what its caps allow."""
    return prefer(ws, session_id, request.first, request.second, model=request.model)


@router.get("/sessions/{session_id}/costs")
def costs_of(ws: Ws, session_id: SessionId) -> SessionCosts:
    """Tokens, dollars and seconds by role and iteration."""
    return costs(ws, session_id)


@router.patch("/sessions/{session_id}/caps")
def caps(ws: Ws, session_id: SessionId, request: CapChanges) -> Caps:
    """Change what it may spend at most; null removes a cap."""
    return set_caps(ws, session_id, **request.model_dump(exclude_unset=True)).caps
