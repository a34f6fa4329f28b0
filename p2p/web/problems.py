"""Errors as `application/problem+json` (RFC 9457), made from the error tree in one place."""

import logging
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from p2p.cli.remedies import in_commands
from p2p.contracts import errors
from p2p.contracts.base import Contract
from p2p.contracts.errors import P2PError
from p2p.contracts.inference import ModelProblem, RateLimited
from p2p.contracts.remedies import remedies_in
from p2p.web.remedies import in_requests

MEDIA_TYPE = "application/problem+json"
RETRY_S = 10
"""When to ask again where too much was asked for at once [s]."""
STATUS: dict[type[P2PError], int] = {
    errors.UnknownName: 404,
    errors.Busy: 409,
    errors.InvalidInput: 422,
    errors.TrainingFailed: 409,
    errors.EnvironmentProblem: 503,
    errors.JobLost: 409,
    errors.CodeFailed: 409,
    RateLimited: 429,
    ModelProblem: 502,
    errors.BudgetExceeded: 409,
    errors.P2PError: 500,
}
"""Class -> status; that of the nearest class above it counts for one that is not named."""


class NextStep(Contract):
    """What can be done about a problem."""

    remedy: str
    """Its name, as `resume`."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """What it is done with, as `{"session": …}`."""
    request: str
    """The request that does it, or the command of a terminal."""


class Problem(Contract):
    """Why a request was refused, or failed (RFC 9457)."""

    type: str
    """Class of the error tree, such as `UnknownName`, or `Refused` before it got there."""
    title: str
    """Of the status."""
    status: int = Field(ge=400, le=599)
    detail: str
    """What happened, what was expected and what to do: the sentence that the command line prints."""
    next: tuple[NextStep, ...] = ()
    """What it advises, as requests."""


class TooMany(Exception):
    """Too much of a kind at once.

    Args:
        what: Such as "renderings".
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"Too many {what} at once: ask again in {RETRY_S} s.")


def problem(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer for a problem; `message` may hold remedies."""
    steps = tuple(
        NextStep(remedy=remedy.value, arguments=arguments, request=in_requests(remedy.of(**arguments)))
        for remedy, arguments in remedies_in(message)
    )
    said = Problem(type=kind, title=HTTPStatus(status).phrase, status=status, detail=in_commands(message), next=steps)
    return Response(
        said.model_dump_json(),
        status,
        {"cache-control": "no-store", **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that is not let in."""
    return problem(status, "Refused", detail, headers)


def of_error(error: P2PError) -> Response:
    """The answer for an error of p2p's."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    wait = {"retry-after": str(RETRY_S)} if status == 429 else {}
    return problem(status, type(error).__name__, str(error), wait)


def of_load(error: TooMany) -> Response:
    """The answer where too much was asked for at once."""
    return problem(429, "TooMany", str(error), {"retry-after": str(RETRY_S)})


def install(app: FastAPI) -> None:
    """Have an application answer its errors so."""

    @app.exception_handler(P2PError)
    def _of_p2p(_request: Request, error: P2PError) -> Response:
        return of_error(error)

    @app.exception_handler(TooMany)
    def _of_load(_request: Request, error: TooMany) -> Response:
        return of_load(error)

    @app.exception_handler(RequestValidationError)
    def _of_arguments(_request: Request, error: RequestValidationError) -> Response:
        wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        return problem(422, "InvalidInput", f"The request is not valid: {'; '.join(wrong)[:2000]}.")

    @app.exception_handler(HTTPException)
    def _of_routing(_request: Request, error: HTTPException) -> Response:
        detail = {404: "There is nothing at this address.", 405: "This address does not answer this method."}
        said = detail.get(error.status_code, str(error.detail))
        return problem(error.status_code, "Refused", said, error.headers)

    @app.exception_handler(Exception)
    def _of_defect(_request: Request, error: Exception) -> Response:
        logging.getLogger("p2p.web").error("Unexpected %s", type(error).__name__, exc_info=error)
        return problem(
            500, type(error).__name__, "This is a defect of p2p; the terminal of `p2p web` has its traceback."
        )
