"""Verb `check`: try a reward on real transitions before any training. Without torch."""

from pathlib import Path

from p2p.analysis.reward_audit import audit
from p2p.analysis.reward_ranking import ranking
from p2p.analysis.state_audit import audit_state
from p2p.analysis.term_audit import audit_terms
from p2p.contracts.errors import InvalidInput, InvalidReward
from p2p.contracts.work import CheckRequest
from p2p.store.iterations import IterationRecord
from p2p.worker.reward.hosted import try_hosted
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward.trial import refused_with
from p2p.worker.reward.tried_motions import pay_hosted
from p2p.worker.reward_source.loader import read_source

TIME_LIMIT_S = 10.0
"""For loading the reward and running it on all transitions."""


def check(job_dir: Path) -> None:
    """Try the reward in `job_dir` and write its report, also for a bad reward.

    Raises:
        InvalidInput: the directory lacks a readable environment.
        InvalidConfig: the environment refuses the request's `env_kwargs`.
    """
    record = IterationRecord(job_dir)
    spec = record.read_env_spec()
    if spec is None:
        raise InvalidInput(f"{record.env_spec_path} is missing or not valid: the reward cannot be tried.")
    request = record.read_check_request() or CheckRequest()
    try:
        source = read_source(record.reward_fn_path)
    except InvalidReward as error:
        record.save_reward_report(refused_with(str(error)))
    else:
        recording = record_episodes(spec, request, source)
        report = try_hosted(source, recording, TIME_LIMIT_S)
        if report.accepted:
            paid = pay_hosted(source, spec, request, request.intent) if request.intent is not None else []
            terminates = request.terminate_when_unhealthy
            severity = "error" if request.refuse_wrong_preferences else "warning"
            found = [
                *audit_state(source),
                *audit_terms(report.terms, source, paid, terminates),
                *audit(paid, source, severity, terminates),
            ]
            report = report.model_copy(update={"issues": (*report.issues, *found), "ranking": ranking(paid)})
        record.save_reward_report(report)
