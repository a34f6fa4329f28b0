"""What to call next, in words a model can follow."""

from p2p.contracts.background import JobKind, JobView
from p2p.contracts.job import JobState, in_words
from p2p.contracts.metrics import MetricsView
from p2p.contracts.session import SessionStatus, SessionView
from p2p.service.progress.details import view_iteration
from p2p.service.progress.job_views import list_jobs
from p2p.service.progress.session_view import view_session
from p2p.service.workspace import Workspace


def after_session(ws: Workspace, view: SessionView) -> str:
    """The next step of a session."""
    name = view.session.session_id
    if view.status is SessionStatus.PASSED:
        return (
            f'It passed. export_policy(session_id="{name}") exports the policy; view_rollout shows it; '
            "extend_session goes on from its reward with a wish or stricter criteria."
        )
    running = [job for job in list_jobs(ws, name) if not job.state.finished]
    if running:
        return f'get_job(job_id="{running[0].job_id}", wait_seconds=45)'
    if view.alive:
        return f'A process drives it; look again with get_session(session_id="{name}").'
    if view.status.finished:
        return (
            f'It has ended as {view.status}. extend_session(session_id="{name}") goes on; create_session begins anew.'
        )
    if view.status is SessionStatus.INTERRUPTED and view.by_caller:
        return f'The job that trained it was killed. train_iteration(session_id="{name}") goes on with its runs.'
    if view.status is SessionStatus.INTERRUPTED:
        return f'Its process is gone. run_session(session_id="{name}") goes on; nothing finished is repeated.'
    if view.session.extends is not None and view.iteration == 1 and view.step == "reward":
        return f'write_reward(session_id="{name}") checks the reward it begins with.'
    call = {
        "intent": f'write_reward(session_id="{name}", source="...")',
        "reward": f'write_reward(session_id="{name}", source="...")',
        "train": f'train_iteration(session_id="{name}")',
        "judge": f'judge_videos(session_id="{name}")',
        "revise": f'revise_reward(session_id="{name}")',
    }
    return call.get(view.step, f'get_session(session_id="{name}")')


def after_job(job: JobView) -> str:
    """The next step of whoever follows a job."""
    name = job.session_id
    if job.waiting is not None:
        return f'get_job(job_id="{job.job_id}", wait_seconds=45) looks again: it {in_words(job.waiting)}.'
    if not job.state.finished:
        again = f'get_job(job_id="{job.job_id}", wait_seconds=45)'
        trained = job.kind is JobKind.TRAINING and 0 < job.total <= job.step
        return f"{again} looks again: it is trained, and evaluated for the judgment." if trained else again
    if job.state is JobState.FAILED:
        return (
            f'Read the error; write_reward(session_id="{name}", source="...") replaces the reward, '
            f'train_iteration(session_id="{name}") tries again.'
        )
    if job.state in (JobState.LOST, JobState.CANCELLED):
        start = "run_session" if job.kind is JobKind.SESSION else "train_iteration"
        return (
            f'{start}(session_id="{name}") goes on where it stopped; judge_videos(session_id="{name}") shows the best '
            "checkpoint it left, to judge and revise by."
        )
    if job.kind is JobKind.SESSION:
        return f'get_session(session_id="{name}")'
    return f'get_metrics(session_id="{name}"), then judge_videos(session_id="{name}").'


def after_metrics(ws: Workspace, shown: MetricsView) -> str:
    """The next step of whoever has seen the numbers of a training."""
    name = shown.session_id
    running = [job for job in list_jobs(ws, name) if not job.state.finished]
    if running:
        return f'get_job(job_id="{running[0].job_id}", wait_seconds=45)'
    judgment = view_iteration(ws, name, shown.iteration).judgment
    if judgment is None:
        return f'judge_videos(session_id="{name}", iteration={shown.iteration})'
    return after_session(ws, view_session(ws, name))
