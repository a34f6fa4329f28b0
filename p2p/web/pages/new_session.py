"""A new session: what it would be judged by before anything trains, and how long it would take."""

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import ValidationError
from starlette.responses import Response

from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.intent import Criterion, Predicate, Preview
from p2p.contracts.session import NewSession
from p2p.service.machines.overview import machine
from p2p.service.sessions.lifecycle import preview
from p2p.service.training.environments import list_environments
from p2p.service.training.robots import named_robots
from p2p.settings import keys_present
from p2p.web.arguments import Ws
from p2p.web.pages.rendering import PageRoute, back_to, command, page
from p2p.web.router import Router
from p2p.web.routes import sessions as session_routes
from p2p.web.schemas import SessionRequest

router = Router(prefix="/e2e/new", include_in_schema=False, route_class=PageRoute, default_response_class=Response)
USUAL = NewSession()
NUMBERS = ("max_iterations", "n_seeds", "pass_threshold", "seed", "n_configs", "candidates", "n_report_rollouts")
"""Fields of a session that are numbers; all but the first three stand under "Advanced"."""
UNSEEN = "These are the criteria of the new sentence. Start when they are right."
TO_THE_END = "train_to_the_end"
SWITCHES = (TO_THE_END, "reward_only")
FLAGS = {"max_iterations": "--iterations", "n_seeds": "--seeds", "pass_threshold": "--threshold", "seed": "--seed"}


async def filled_in(request: Request) -> dict[str, str]:
    """The form, from the address or the body."""
    form = request.query_params if request.method in ("GET", "HEAD") else await request.form(max_fields=300)
    return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(filled_in)]


@router.get("")
def new(ws: Ws, request: Request, form: Form) -> Response:
    """The form; with a sentence, its criteria and what it would take."""
    return _shown(ws, request, form)


@router.post("")
def start(ws: Ws, request: Request, form: Form) -> Response:
    """Begin the session; its page follows."""
    try:
        asked = asked_for(form)
        found = preview(ws, asked)
        if form.get("criteria_of") != _sentence(asked):  # nobody has seen what this sentence is judged by
            return _shown(
                ws, request, form, note="These are the criteria of the new sentence. Start when they are right."
            )
        request_of = SessionRequest.model_validate({**asked.model_dump(), **_criteria(found, form)})
        begun = session_routes.create(ws, request_of, form.get("once") or None)
    except P2PError as error:
        return _shown(ws, request, form, error=error, status=422)
    return back_to(f"/e2e/{begun.session_id}")


def asked_for(form: Mapping[str, str]) -> NewSession:
    """The session that a form asks for; what is left empty has its default.

    Raises:
        InvalidInput: a field cannot be used.
    """
    fields: dict[str, Any] = {name: form[name] for name in NUMBERS if form.get(name)}
    fields["reward_only"] = "reward_only" in form
    fields["stop_when_clear"] = False if TO_THE_END in form else None
    fields |= {name: form[name].strip() for name in ("prompt", "env_id", "judge_model") if form.get(name)}
    if form.get("model_file", "").strip():
        fields["env_id"] = form["model_file"].strip()
    if form.get("author") == "model":
        fields["author"] = form.get("model", "").strip()
    if steps := form.get("total_timesteps"):
        if not steps.isdecimal():
            raise InvalidInput("Steps of each training: expected a whole number.")
        fields["config"] = {"total_timesteps": int(steps)}
    if form.get("dollars"):
        fields["caps"] = {"dollars": form["dollars"]}
    try:
        asked = NewSession.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"{'.'.join(map(str, wrong['loc'])).replace('_', ' ')}: {wrong['msg']}.") from error
    if form.get("author") == "model" and not asked.author:
        raise InvalidInput("Say which model writes, as provider:model.")
    return asked


def chosen_criteria(criteria: tuple[Criterion, ...], form: Mapping[str, str]) -> tuple[Criterion, ...]:
    """Criteria as a form leaves them: which are used, thresholds, whether they are required, weights.

    Raises:
        InvalidInput: a number is none, or nothing is left to be judged by.
    """
    kept = []
    for one in criteria:
        if f"use_{one.key}" not in form:
            continue
        changes: dict[str, Any] = {"required": f"required_{one.key}" in form}
        try:
            changes["weight"] = float(form.get(f"weight_{one.key}") or one.weight)
            if one.predicate is not None:
                changes["predicate"] = {**one.predicate.model_dump(), **_bounds(one.key, one.predicate, form)}
            kept.append(Criterion.model_validate({**one.model_dump(), **changes}))
        except ValueError as error:
            raise InvalidInput(f"{one.title}: its threshold and weight are numbers; the weight is above 0.") from error
    if not kept:
        raise InvalidInput("Keep at least one criterion: without any, nothing can be judged.")
    return tuple(kept)


def _bounds(key: str, predicate: Predicate, form: Mapping[str, str]) -> dict[str, float]:
    bounds = {"threshold": float(form.get(f"threshold_{key}") or predicate.threshold)}
    if predicate.upper is not None:
        bounds["upper"] = float(form.get(f"upper_{key}") or predicate.upper)
    return bounds


def _criteria(found: Preview, form: Mapping[str, str]) -> dict[str, Any]:
    if found.intent is None or form.get("criteria_of") is None:
        return {}
    chosen = chosen_criteria(found.intent.criteria, form)
    if chosen == found.intent.criteria:
        return {}  # its author's own, with all that it knows of them
    return {"criteria": chosen, "episode_s": found.intent.episode_s}


def _sentence(asked: NewSession) -> str:
    return f"{asked.env_id} {asked.author} {asked.prompt.strip()}"


def _shown(
    ws: Ws, request: Request, form: Mapping[str, str], error: P2PError | None = None, note: str = "", status: int = 200
) -> Response:
    found, asked, edited = None, None, False
    try:
        asked = asked_for(form)
        if asked.prompt.strip():
            found = preview(ws, asked)
            edited = form.get("criteria_of") == _sentence(asked)
    except P2PError as wrong:
        error = error or wrong
    here = machine(ws)
    return page(
        request,
        "new_session.html",
        status=status,
        tab="e2e",
        command=_command(asked),
        form=form,
        asked=asked or USUAL,
        preview=found,
        edited=edited,
        criteria_of=_sentence(asked) if asked is not None else "",
        environments=[*(spec.env_id for spec in list_environments()), *named_robots(ws)],
        schema=NewSession.model_json_schema()["properties"],
        numbers=NUMBERS,
        switches=SWITCHES,
        providers=[name.removesuffix("_API_KEY").lower() for name, there in keys_present().items() if there],
        free=sum(core.owner is None for core in here.cores),
        cores=len(here.cores),
        queue=sum(job.cores > 0 for job in here.queue),
        once=secrets.token_urlsafe(12),
        error=str(error) if error is not None else "",
        note=note,
    )


def _command(asked: NewSession | None) -> str:
    if asked is None or not asked.prompt.strip():
        return "p2p run SENTENCE"
    words: list[object] = ["p2p", "run", asked.prompt.strip(), "--env", asked.env_id]
    for name, flag in FLAGS.items():
        if getattr(asked, name) != getattr(USUAL, name):
            words += [flag, getattr(asked, name)]
    if asked.config:
        words += ["--timesteps", asked.config["total_timesteps"]]
    if asked.author != USUAL.author:
        words += ["--model", asked.author]
    return command(*words)
