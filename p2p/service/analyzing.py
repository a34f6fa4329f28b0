"""Reports on whole sessions."""

from p2p import registry
from p2p.contracts.analysis import SessionAnalysis
from p2p.contracts.errors import InvalidInput
from p2p.service.judging import Judging, attempt


class Analyzing(Judging):
    """What a session taught, in words, with the numbers it rests on."""

    def analyze_session(self, session_id: str) -> SessionAnalysis:
        """The report on what was tried; kept in `analysis.json`, and written anew when more was judged since.

        A session whose rewards a model writes is reported on by that model; any other by what its numbers say.

        Raises:
            UnknownName: there is no such session.
            InvalidInput: nothing of it is judged yet, or it has no sentence.
        """
        record = self.record(session_id)
        intent = record.read_criteria()
        numbers = [it.number for it in record.iteration_records() if it.read_judgment() is not None]
        if intent is None or not numbers:
            raise InvalidInput(f"{session_id} has nothing judged yet: there is nothing to report. p2p watch looks on.")
        kept = record.read_analysis()
        if kept is not None and kept.iterations == len(numbers):
            return kept
        attempts = tuple(attempt(record, number) for number in numbers)
        analyze = registry.load("analyst", registry.ANALYSTS, "builtin")
        report: SessionAnalysis = analyze(record, intent, attempts)
        record.save_analysis(report)
        return report
