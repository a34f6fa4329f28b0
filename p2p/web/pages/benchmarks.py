"""Runs of suites: begun, followed case by case, and two of them compared."""

from typing import Annotated, Any

from fastapi import Form, Query, Request
from pydantic import ValidationError
from starlette.responses import Response

from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite import Selection
from p2p.contracts.suite_comparison import SHARES, SuiteComparison
from p2p.service.suites.comparing import (
    TITLES,
    compare_suite_runs,
    estimate_in_words,
    in_points,
    run_estimates,
    run_groups,
    verdict_in_words,
)
from p2p.service.suites.keeping import delete_suite_run
from p2p.service.suites.results import list_suite_runs, view_suite_run
from p2p.service.suites.running import known_suites, resume_suite_run, shipped_suite, stop_suite_run
from p2p.web.arguments import SuiteRunName, Ws, suite_run_of
from p2p.web.pages.actions import commands_of
from p2p.web.pages.rendering import PageRoute, back_to, command, page, visitor_of
from p2p.web.router import Router
from p2p.web.routes import benchmarks as benchmark_routes
from p2p.web.schemas import SuiteOption, SuiteRunRequest
from p2p.web.sharing import SHARED

FORMS = tuple(f"/benchmark/{{benchmark_id}}/{name}" for name in ("stop", "resume", "delete"))
router = Router(prefix="/benchmark", include_in_schema=False, route_class=PageRoute, default_response_class=Response)
Text = Annotated[str, Form(max_length=200)]
LEAST_REACH = 0.1
"""Of the forest plot, where nothing differs [share]."""


@router.get("", openapi_extra=SHARED)
def benchmarks(ws: Ws, request: Request) -> Response:
    """Every run, newest first, and a form for a new one."""
    suites = [SuiteOption.of(shipped_suite(name)) for name in known_suites()]
    return page(
        request,
        "benchmarks.html",
        tab="benchmark",
        command="p2p benchmark list",
        actions=commands_of("/benchmark"),
        runs=list_suite_runs(ws),
        suites=suites if visitor_of(request).may_change else (),
    )


@router.post("")
def begin(
    ws: Ws,
    suite: Text,
    name: Text = "",
    seeds: Text = "",
    case: Text = "",
    parallel: Annotated[int, Form(ge=1, le=1000)] = 1,
    flat: Annotated[bool, Form()] = False,
) -> Response:
    """Begin a run of a suite, or go on with the one of that name."""
    fields: dict[str, Any] = {"suite": suite, "name": name.strip(), "parallel": parallel, "flat": flat}
    fields["seeds"] = [seed for seed in seeds.replace(",", " ").split() if seed]
    fields["only"] = Selection(case=tuple(case.replace(",", " ").split()))
    try:
        asked = SuiteRunRequest.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}.") from error
    return back_to(f"/benchmark/{benchmark_routes.start(ws, asked).benchmark_id}")


@router.get("/compare", openapi_extra=SHARED)
def compare(
    ws: Ws, request: Request, first: Annotated[str, Query(max_length=40)], second: Annotated[str, Query(max_length=40)]
) -> Response:
    """Two runs of one suite, paired by case."""
    names = [suite_run_of(first), suite_run_of(second)]
    found = compare_suite_runs(ws, names, chart=False)
    return page(
        request,
        "benchmark_comparison.html",
        tab="benchmark",
        command=command("p2p", "benchmark", "compare", *names),
        comparison=found,
        verdict=verdict_in_words(found, 0),
        titles=TITLES,
        shares=SHARES,
        words=estimate_in_words,
        points=in_points,
        reach=_reach(found),
    )


def _reach(comparison: SuiteComparison) -> float:
    """Largest difference of shares, or end of its interval: what the forest plot reaches to on both sides."""
    shown = [one.differences[0] for one in comparison.metrics if one.metric in SHARES]
    shown += [one.differences[0] for one in comparison.groups]
    ends = (end for gap in shown for end in (gap.mean, gap.low, gap.high) if end is not None)
    return max((abs(end) for end in ends), default=0.0) or LEAST_REACH


@router.get("/{benchmark_id}", openapi_extra=SHARED)
def run(ws: Ws, request: Request, benchmark_id: SuiteRunName) -> Response:
    """A run: stages with their gates, results by group, every case."""
    view = view_suite_run(ws, benchmark_id)
    others = [one.run.name for one in list_suite_runs(ws) if one.run.digest == view.run.digest]
    return page(
        request,
        "benchmark.html",
        tab="benchmark",
        command=command("p2p", "benchmark", "show", benchmark_id),
        actions=commands_of(*FORMS, benchmark_id=benchmark_id),
        view=view,
        run=view.run,
        estimates=run_estimates(ws, benchmark_id),
        groups=run_groups(ws, benchmark_id),
        others=[name for name in others if name != benchmark_id],
    )


@router.post("/{benchmark_id}/stop")
def stop(ws: Ws, benchmark_id: SuiteRunName) -> Response:
    """Stop it and the trainings of its sessions."""
    stop_suite_run(ws, benchmark_id)
    return back_to(f"/benchmark/{benchmark_id}")


@router.post("/{benchmark_id}/resume")
def resume(ws: Ws, benchmark_id: SuiteRunName) -> Response:
    """Go on with it."""
    resume_suite_run(ws, benchmark_id)
    return back_to(f"/benchmark/{benchmark_id}")


@router.post("/{benchmark_id}/delete")
def delete(ws: Ws, benchmark_id: SuiteRunName) -> Response:
    """Move it to the trash with its sessions."""
    delete_suite_run(ws, benchmark_id)
    return back_to("/benchmark")
