"""Reports on whole sessions."""

from p2p.agents.builtin import analyst
from p2p.agents.model.asking import Role
from p2p.contracts.errors import BudgetExceeded, InvalidInput
from p2p.contracts.inference import ModelProblem
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import SessionAnalysis
from p2p.service.models.session_models import session_models
from p2p.service.rewards.authors import writes_by_model
from p2p.service.rewards.revision import attempt
from p2p.service.workspace import Workspace

ROLE = "session_analyzer"
"""Under which its calls are counted in the session's ledger."""


def written_analysis(ws: Workspace, session_id: str) -> SessionAnalysis | None:
    """The report on a session as it was last written; None where none was. Asks no model.

    Raises:
        UnknownName: there is no such session.
    """
    return ws.record(session_id).read_analysis()


def analyze_session(ws: Workspace, session_id: str) -> SessionAnalysis:
    """Report on a whole session, cached in `analysis.json` until more is judged.

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
            f"{session_id} has nothing judged yet: there is nothing to report. "
            f"{Remedy.FOLLOW.of(session=session_id)} says how it stands, {Remedy.JUDGE.of(session=session_id)} judges "
            "what is trained."
        )
    kept = record.read_analysis()
    if kept is not None and kept.iterations == len(numbers):
        return kept
    attempts = tuple(attempt(record, number) for number in numbers)
    report = None
    problem = ""
    if writes_by_model(record.read_session()):
        from p2p.agents.model import session_analyzer  # noqa: PLC0415 - jinja2, which the service starts without

        try:
            models = session_models(record, ws.settings.model_patience_s, ws.settings.model_silence_s)
            report = session_analyzer.analyze(Role(models.for_role(ROLE, light=True)), record, intent, attempts)
        except (ModelProblem, BudgetExceeded, InvalidInput) as error:
            problem = str(error)
    if report is None:
        report = analyst.analyze(record, intent, attempts).model_copy(update={"fallback": problem})
    record.save_analysis(report)
    return report
