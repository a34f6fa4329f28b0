"""Python API of one session."""

import time
from functools import cached_property
from pathlib import Path
from typing import Any

from p2p.api.notebook import session_html
from p2p.api.remedies import in_calls, worded
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Criterion
from p2p.contracts.iteration import IterationView
from p2p.contracts.judgment import Judgment, Labels
from p2p.contracts.metrics import IterationComparison, SessionComparison
from p2p.contracts.preference import ComparedPolicy, Preference, Side
from p2p.contracts.session import ExtendSession, MetadataChange, SessionAnalysis, SessionStatus, SessionView
from p2p.contracts.work import Export, ExportFormat, NewExport
from p2p.service.judging.by_code import rejudge
from p2p.service.judging.labelling import label_rollout
from p2p.service.judging.preferring import person_prefers
from p2p.service.models.session_models import set_caps
from p2p.service.progress.comparing import compare_iterations, compare_sessions
from p2p.service.progress.details import view_iteration
from p2p.service.progress.recordings import recorded_states
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.analyzing import analyze_session
from p2p.service.sessions.driving import resume_session, start_session, stop_session
from p2p.service.sessions.export import export_policy
from p2p.service.sessions.extending import continue_session
from p2p.service.sessions.keeping import delete_session, edit_session, purge_session, restore_session
from p2p.service.sessions.packing import pack
from p2p.service.sessions.steering import steer
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store.policy import NumpyPolicy, load_policy

POLL_S = 1.0
"""Between two looks at a session that is waited for [s]."""


class Session:
    """One session: a sentence pursued until it passes or stops.

    It is driven by another process, which goes on when this one ends: `p2p.load_session(id)` finds it again.
    Every attribute is read from the session's directory when it is asked for.

    Args:
        ws: Where it is kept.
        session_id: Which.
    """

    def __init__(self, ws: Workspace, session_id: str) -> None:
        self._ws = ws
        self.id = session_id

    @property
    def view(self) -> SessionView:
        """Current state of the session, as `p2p show` prints it."""
        return view_session(self._ws, self.id)

    @property
    def prompt(self) -> str:
        """The sentence."""
        return self.view.session.prompt

    @property
    def path(self) -> Path:
        """Directory of the session."""
        return self._ws.record(self.id).path

    @property
    def status(self) -> SessionStatus:
        """Current status, such as "running" or "passed"."""
        return self.view.status

    @property
    def error(self) -> str | None:
        """Error that ended the session; None without one."""
        error = self.view.error
        return in_calls(error) if error is not None else None

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Criteria of the session; empty for a reward without a sentence."""
        return self.view.criteria

    @property
    def environment(self) -> EnvSpec:
        """Facts of its environment: observations, actions, parts, and of a robot from a model file its choices."""
        return describe_environment(self._ws, self.view.session.env_id)

    @property
    def judgment(self) -> Judgment | None:
        """Judgment of the best iteration; None before the first judgment."""
        return self.view.judgment

    @property
    def passed(self) -> bool:
        """Whether the session ended with a policy that passed."""
        return self.status is SessionStatus.PASSED

    @property
    def iterations(self) -> tuple[IterationView, ...]:
        """Iterations with reward, configuration, runs and report rollouts."""
        return tuple(view_iteration(self._ws, self.id, number) for number in range(1, self.view.iteration + 1))

    @property
    def reward(self) -> str | None:
        """Reward source of the best iteration; None before there is one."""
        found = self._file(self.view.artefacts.reward)
        return found.read_text(encoding="utf-8") if found is not None else None

    @property
    def video(self) -> Path | None:
        """Video of the best iteration's median report rollout; None before the judgment."""
        return self._file(self.view.artefacts.video)

    @property
    def contact_sheet(self) -> Path | None:
        """Contact sheet of that rollout."""
        return self._file(self.view.artefacts.contact_sheet)

    @property
    def learning_curve(self) -> Path | None:
        """Plot of the return and the criteria over the training."""
        return self._file(self.view.artefacts.learning_curve)

    @cached_property
    @worded
    def policy(self) -> NumpyPolicy:
        """Judged policy of the best iteration, with its normaliser: `action = session.policy(observation)`.

        It takes observations of shape (obs_dim,) or (B, obs_dim) as the environment gives them, and returns float32
        actions of shape (action_dim,) or (B, action_dim) within the action's bounds. Deterministic.

        Raises:
            InvalidInput: no policy is judged yet.
        """
        found = self._file(self.view.artefacts.policy)
        if found is None:
            raise InvalidInput(f"{self.id} has no judged policy yet. Wait for it: session.wait()")
        return load_policy(found)

    def wait(self, timeout_s: float | None = None) -> "Session":
        """Wait until no process drives or trains the session.

        Args:
            timeout_s: How long at most [s]; None waits as long as it takes.

        Raises:
            TimeoutError: the time is up; the session goes on.
        """
        begun = time.monotonic()
        while (now := self.view).alive:
            if timeout_s is not None and time.monotonic() - begun > timeout_s:
                raise TimeoutError(f"{self.id} is {now.status} after {timeout_s:g} s and continues in the background.")
            time.sleep(POLL_S)
        return self

    @worded
    def stop(self) -> "Session":
        """Stop the session and its trainings; finished work is kept."""
        stop_session(self._ws, self.id)
        return self

    @worded
    def resume(self, max_iterations: int | None = None) -> "Session":
        """Resume a session that was stopped or killed, or has used up its iterations; see `max_iterations` of `run`.

        Raises:
            InvalidInput: it has ended by itself, and no more iterations are asked for.
        """
        resume_session(self._ws, self.id, max_iterations)
        return self

    @worded
    def steer(self, wish: str) -> "Session":
        """Send a wish to the author of the next reward.

        Raises:
            InvalidInput: nobody would read it; the message says what works instead.
        """
        steer(self._ws, self.id, wish)
        return self

    @worded
    def set_caps(self, **caps: float | None) -> "Session":
        """Change what it may use, such as `dollars=5`; None removes a cap. `resume` goes on with what it was out of.

        Raises:
            InvalidInput: there is no such cap.
        """
        set_caps(self._ws, self.id, **caps)
        return self

    @worded
    def edit(self, **changes: Any) -> "Session":
        """Change its alias, star or tags.

        Args:
            changes: Fields of `p2p.contracts.session.MetadataChange`: alias, starred, add_tags, remove_tags.
        """
        edit_session(self._ws, self.id, MetadataChange(**changes))
        return self

    @worded
    def analyze(self) -> SessionAnalysis:
        """Write the report on the whole session, or return the one that is up to date."""
        return analyze_session(self._ws, self.id)

    @worded
    def label(
        self, score: float, annotator: str, *, rollout: str = "median", iteration: int | None = None, comment: str = ""
    ) -> Labels:
        """Keep a person's score of a recorded rollout, in [0, 1]; no verdict changes."""
        return label_rollout(self._ws, self.id, score, annotator, rollout, iteration, comment)

    @worded
    def prefer(self, first: int, second: int, better: Side, reason: str) -> Preference:
        """Keep which of two iterations a person prefers, who has watched their videos; no verdict changes.

        Args:
            first: An iteration.
            second: Another one.
            better: "first", "second" or "same".
            reason: What was seen.
        """
        pair = ComparedPolicy(iteration=first), ComparedPolicy(iteration=second)
        return person_prefers(self._ws, self.id, pair, better, reason)

    @worded
    def delete(self) -> "Session":
        """Move it to the trash; its files stay, and `restore` brings it back.

        Raises:
            Busy: something of it is running.
        """
        delete_session(self._ws, self.id)
        return self

    @worded
    def restore(self) -> "Session":
        """Bring it back from the trash.

        Raises:
            InvalidInput: it is not there.
        """
        restore_session(self._ws, self.id)
        return self

    @worded
    def purge(self) -> None:
        """Remove it from the trash for good, with its policies and videos.

        Raises:
            InvalidInput: it is not in the trash.
            Busy: something of it is running.
        """
        purge_session(self._ws, self.id)

    @worded
    def extend(self, wish: str = "", criteria: tuple[Criterion, ...] = (), **options: Any) -> "Session":
        """Start a new session from the best reward of this ended one, with stricter criteria or a wish.

        Args:
            wish: What to do differently.
            criteria: Stricter ones, by key, and new ones.
            options: Fields of `p2p.contracts.session.ExtendSession`.

        Raises:
            InvalidInput: it runs, has nothing judged, or nothing is asked for that it did not do.
        """
        request = ExtendSession(wish=wish, criteria=criteria, **options)
        made = continue_session(self._ws, self.id, request, driven=True)
        start_session(self._ws, made.session_id)
        return Session(self._ws, made.session_id)

    @worded
    def judge(self, prompt: str | None = None, iteration: int | None = None) -> Judgment:
        """Judge the recorded rollouts again; simulates nothing, overwrites nothing.

        Args:
            prompt: A sentence whose criteria count; None takes those of the session.
            iteration: Which; None takes the best one.

        Raises:
            InvalidInput: it has no recorded rollouts.
            UnknownPhrase: `prompt` is not understood.
        """
        number = iteration or self.view.best_iteration or 1
        return rejudge(self._ws, self.id, number, prompt)

    @worded
    @worded
    def compare(self, other: "Session") -> SessionComparison:
        """Hold the best iteration against that of another session: results, criteria, settings, rewards.

        Raises:
            InvalidInput: it is the same session.
        """
        return compare_sessions(self._ws, self.id, other.id)

    @worded
    def compare_iterations(self, first: int, second: int) -> IterationComparison:
        """Hold two iterations side by side: results, criteria, and what changed between them.

        Raises:
            UnknownName: there is no such iteration.
            InvalidInput: both are the same, or one has no reward yet.
        """
        return compare_iterations(self._ws, self.id, first, second)

    @worded
    def start_states(
        self,
        label: str = "median",
        start_s: float = 0.0,
        end_s: float | None = None,
        count: int = 16,
        iteration: int | None = None,
    ) -> dict[str, Any]:
        """States of a report rollout, for another training to begin in: `config={"start_states": …}`.

        Args:
            label: Which of the rollouts, "p10", "median" or "p90" by their scores.
            start_s: Begin of the part that is read [s].
            end_s: Its end [s]; None for that of the rollout.
            count: How many, evenly spaced in time, 1 to 64.
            iteration: Its number; None for the best one.

        Raises:
            InvalidInput: nothing is recorded, or the part lies outside it.
        """
        found = recorded_states(self._ws, self.id, iteration, label, start_s, end_s, count)
        return found.model_dump(mode="json", include={"share", "states"})

    @worded
    def export(self, *formats: str, output: Path | None = None, **options: Any) -> Export:
        """Export the judged policy to other formats, with model card, parity check and replay script.

        Args:
            formats: Of "sb3", "onnx" and "torchscript".
            output: Folder to write; None makes one in the session's directory.
            options: Other fields of `p2p.contracts.work.NewExport`.

        Raises:
            InvalidInput: it has no policy yet.
            MissingExtra: the library of a format is not installed.
        """
        names = tuple(ExportFormat(name) for name in formats)
        return export_policy(self._ws, self.id, NewExport(formats=names, output=output, **options))

    @worded
    def pack(self, output: Path | str, *others: "Session") -> Path:
        """Pack its best iteration, and those of other sessions, into a ZIP file with rewards, verdicts and videos.

        Args:
            output: The file; one that is there is replaced.
            others: Sessions of the same runs directory.

        Raises:
            StorageProblem: it cannot be written.
        """
        pack(self._ws, [self.id, *(other.id for other in others)], Path(output))
        return Path(output)

    def _file(self, relative: str | None) -> Path | None:
        return None if relative is None else self._ws.runs.path / relative

    def __repr__(self) -> str:
        """Id, status and sentence."""
        view = self.view
        return f"<p2p.Session {self.id}: {view.status}, {view.session.prompt!r} on {view.session.env_id}>"

    def _repr_html_(self) -> str:
        return session_html(self.view, video=self.video, curve=self.learning_curve)
