"""Step four of the loop: judge an iteration by its report rollouts.

`judge` decides a session that is driven, `submit_judgment` one whose caller looks at the pictures; both take what is
measured from `judge_by_code`.
"""

from p2p.contracts.judgment import Judgment
from p2p.contracts.session import EventName
from p2p.service.judging.by_code import annotated, judge_by_code
from p2p.service.judging.by_eyes import judge_by_eyes
from p2p.service.judging.judge_code import mend_judge_code
from p2p.service.judging.report import begin_report, finish_report, run_report
from p2p.service.logs.job import keep_logs
from p2p.service.progress.lineage import record_iteration
from p2p.service.workspace import Workspace


def judge(ws: Workspace, session_id: str, number: int) -> Judgment:
    """Judge iteration `number` by its report rollouts, which selected nothing."""
    record = ws.record(session_id)
    iteration = record.iteration(number)
    judgment = iteration.read_judgment()
    if judgment is None:
        n_runs = len(iteration.runs())
        with record.events.span(EventName.JUDGE_START, EventName.JUDGE_END, number, num_runs=n_runs) as result:
            # Measured is what is recorded; only eyes have to wait for pictures. The verdict is saved before the videos.
            (run_report if record.read_session().judge_model else begin_report)(ws, session_id, number)
            mend_judge_code(ws, record, iteration)
            measured = judge_by_code(ws, record, iteration)
            verdict = judge_by_eyes(ws, record, iteration, measured)  # eyes can veto what is measured
            judgment = annotated(iteration, verdict)
            iteration.save_judgment(judgment)
            result |= {"intent_score": judgment.intent_score, "best_run": judgment.run_id}
    record_iteration(record, number)
    finish_report(ws, session_id, number)
    keep_logs(ws, record)
    return judgment
