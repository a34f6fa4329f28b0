"""Verb `call`: call a model-written function with arrays."""

from pathlib import Path

from p2p.contracts.errors import CodeFailed, InvalidInput
from p2p.contracts.work import CodeResult
from p2p.store.code_calls import CodeCallRecord
from p2p.worker.code_host.run_code import run_code


def call(job_dir: Path) -> None:
    """Call the function that the request in `job_dir` names; write its result, or its failure.

    Raises:
        InvalidInput: the request or the arrays are missing.
        EnvironmentProblem: the process for the code does not start.
    """
    record = CodeCallRecord(job_dir)
    request = record.read_request()
    arrays = record.read_arrays()
    if request is None or arrays is None:
        raise InvalidInput(f"{job_dir} holds no readable request with its arrays: expected a function to call.")
    try:
        result = CodeResult(value=run_code(request.source, request.function, arrays, request.limits))
    except CodeFailed as failure:
        message = str(failure) if failure.line is None else str(failure).partition(": ")[2]
        result = CodeResult(value=None, error=message, line=failure.line)
    record.save_result(result)
