"""Sandbox check of `p2p doctor`."""

from p2p.contracts.errors import P2PError
from p2p.contracts.node import CheckLevel, SetupCheck
from p2p.contracts.protocols import Backend
from p2p.contracts.remedies import Remedy
from p2p.contracts.sandbox import SandboxLevel, SandboxReport
from p2p.service.jobs.worker_jobs import probe_directory, run_to_end
from p2p.store.job_records import read_sandbox_report

ALLOW = f"To train anyway: {Remedy.ALLOW_WEAK_SANDBOX.of()}"


def sandbox_check(backend: Backend, allowed: bool) -> SetupCheck:
    """Probe the sandbox in a worker, which is the process it confines."""
    with probe_directory() as scratch:
        try:
            run_to_end(backend, "sandbox", scratch)
        except P2PError as error:
            return SetupCheck(
                name="sandbox", level=CheckLevel.PROBLEM, found=str(error), remedy="See the log of the probe."
            )
        report = read_sandbox_report(scratch)
    if report is None:
        return SetupCheck(name="sandbox", level=CheckLevel.PROBLEM, found="the probe left no answer")
    return described(report, allowed)


def described(report: SandboxReport, allowed: bool) -> SetupCheck:
    """Sandbox report as a row of the table."""
    landlock = f"Landlock ABI {report.landlock_abi}" if report.landlock_abi else "no Landlock"
    found = f"{report.level} ({landlock}, {'seccomp' if report.seccomp else 'no seccomp'})"
    missing = f"Missing: {'; '.join(report.missing)}." if report.missing else ""
    if report.level.is_weak:
        level = CheckLevel.WARNING if allowed else CheckLevel.PROBLEM
        remedy = f"{missing} {'It was allowed.' if allowed else ALLOW}"
        return SetupCheck(name="sandbox", level=level, found=found, remedy=remedy.strip())
    level = CheckLevel.OK if report.level is SandboxLevel.STRICT else CheckLevel.WARNING
    return SetupCheck(name="sandbox", level=level, found=found, remedy=missing)
