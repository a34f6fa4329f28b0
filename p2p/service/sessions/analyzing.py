"""Reports on whole sessions."""

from p2p import registry
from p2p.agents.model.asking import Role
from p2p.contracts.analysis import SessionAnalysis
from p2p.contracts.errors import BudgetExceeded, InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.model_problems import ModelProblem
from p2p.contracts.protocols import Attempt
from p2p.service.models.session_models import session_models
from p2p.service.rewards.authors import writes_by_model
from p2p.service.rewards.revision import attempt
from p2p.service.workspace import Workspace
from p2p.store.sessions import SessionRecord

ROLE = "session_analyzer"
BUILTIN, MODEL = "builtin", "model"
"""Names of the analysts."""


def analyze_session(ws: Workspace, session_id: str) -> SessionAnalysis:
    """The report on what was tried; kept in `analysis.json`, and written anew when more was judged since.

    A session whose rewards a model writes is reported on by its lighter model, within its caps. Where that gives
    no answer, and in any other session, the report is what the numbers say.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: nothing of it is judged yet, or it has no sentence.
    """
    record = ws.record(session_id)
    intent = record.read_criteria()
    numbers = [it.number for it in record.iteration_records() if it.read_judgment() is not None]
    if intent is None or not numbers:
        raise InvalidInput(
            f"{session_id} has nothing judged yet: there is nothing to report. p2p watch looks on; judge_videos "
            "judges what is trained."
        )
    kept = record.read_analysis()
    if kept is not None and kept.iterations == len(numbers):
        return kept
    attempts = tuple(attempt(record, number) for number in numbers)
    report = _analysis(ws, record, intent, attempts)
    record.save_analysis(report)
    return report


def _analysis(ws: Workspace, record: SessionRecord, intent: Intent, attempts: tuple[Attempt, ...]) -> SessionAnalysis:
    """By the session's model where there is one that answers."""
    by_numbers = registry.load("analyst", registry.ANALYSTS, BUILTIN)
    problem = ""
    if writes_by_model(record.read_session()):
        by_model = registry.load("analyst", registry.ANALYSTS, MODEL)
        try:
            models = session_models(record, ws.settings.model_patience_s, ws.settings.model_silence_s)
            report: SessionAnalysis = by_model(Role(models.for_role(ROLE, light=True)), record, intent, attempts)
            return report
        except (ModelProblem, BudgetExceeded, InvalidInput) as error:
            problem = str(error)
    report = by_numbers(record, intent, attempts)
    return report.model_copy(update={"fallback": problem})
