"""Runs of suites: sentences with exams, their stages and gates."""

from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.suite import SuiteRunView
from p2p.service.suites.keeping import delete_suite_run, edit_suite_run, restore_suite_run, suite_run_metadata
from p2p.service.suites.results import list_suite_runs, view_suite_run
from p2p.service.suites.running import (
    known_suites,
    resume_suite_run,
    shipped_suite,
    start_suite_run,
    stop_suite_run,
)
from p2p.web.arguments import SuiteRunName, Ws
from p2p.web.router import Router
from p2p.web.schemas import (
    BenchmarkOptions,
    BenchmarkSummary,
    Edit,
    Stopped,
    SuiteOption,
    SuiteRunRequest,
    SuiteRunResume,
    SuiteRunStarted,
)
from p2p.web.sharing import SHARED

router = Router(prefix="/api/benchmarks", tags=["benchmarks"])
AS_IT_WAS = SuiteRunResume()


@router.get("/options", openapi_extra=SHARED)
def options() -> BenchmarkOptions:
    """Suites that come with p2p, and what there is to choose in each."""
    return BenchmarkOptions(suites=tuple(SuiteOption.of(shipped_suite(name)) for name in known_suites()))


@router.post("", status_code=201)
def start(ws: Ws, request: SuiteRunRequest) -> SuiteRunStarted:
    """Begin a run of a suite, or go on with the one of that name."""
    shipped_suite(request.suite)  # a path would be read as a file
    return SuiteRunStarted(benchmark_id=start_suite_run(ws, request.suite, request.asked()).run.name)


@router.get("", openapi_extra=SHARED)
def runs(ws: Ws) -> tuple[BenchmarkSummary, ...]:
    """Every run, newest first."""
    return tuple(BenchmarkSummary.of(view) for view in list_suite_runs(ws))


@router.get("/{benchmark_id}", openapi_extra=SHARED)
def one(ws: Ws, benchmark_id: SuiteRunName) -> SuiteRunView:
    """A run with its stages and the results of its sessions."""
    return view_suite_run(ws, benchmark_id)


@router.post("/{benchmark_id}/stop")
def stop(ws: Ws, benchmark_id: SuiteRunName) -> Stopped:
    """Stop it and the trainings of its sessions; it can be gone on with."""
    view = stop_suite_run(ws, benchmark_id)
    return Stopped(stopped=view.state != "running", detail=f"{benchmark_id} is {view.state}.")


@router.post("/{benchmark_id}/resume")
def resume(ws: Ws, benchmark_id: SuiteRunName, request: SuiteRunResume = AS_IT_WAS) -> SuiteRunView:
    """Go on with a run that was stopped or killed, or whose gate failed."""
    return resume_suite_run(ws, benchmark_id, **request.model_dump())


@router.patch("/{benchmark_id}")
def edit(ws: Ws, benchmark_id: SuiteRunName, request: Edit) -> EntityMetadata:
    """Change alias, star or tags."""
    return edit_suite_run(ws, benchmark_id, request.change(suite_run_metadata(ws, benchmark_id)))


@router.delete("/{benchmark_id}")
def delete(ws: Ws, benchmark_id: SuiteRunName) -> Stopped:
    """Move a run and its sessions to the trash; their files stay."""
    delete_suite_run(ws, benchmark_id)
    return Stopped(stopped=True, detail=f"{benchmark_id} and its sessions are in the trash.")


@router.post("/{benchmark_id}/restore")
def restore(ws: Ws, benchmark_id: SuiteRunName) -> Stopped:
    """Bring a run back from the trash, with the sessions that were deleted with it."""
    view = restore_suite_run(ws, benchmark_id)
    return Stopped(stopped=view.state != "running", detail=f"{benchmark_id} is {view.state}.")
