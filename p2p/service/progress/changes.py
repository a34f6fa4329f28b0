"""Notices of what has another state than before, for all who listen: one thread looks, and only while somebody does.

Sessions at work are looked at every half second, and everything every second; where a look at everything takes long, it
is made so rarely that it takes a hundredth of the time. Nothing is kept for those who are away: who listens again gets
the present versions.
"""

import logging
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache

from p2p.contracts.errors import P2PError
from p2p.contracts.state_notice import StateNotice, Topic
from p2p.scheduler import machine_queue
from p2p.service.progress.session_lines import KnownSession, known_sessions
from p2p.service.workspace import Workspace
from p2p.store import versions

AT_WORK_S = 0.5
"""Between two looks at what is at work [s]."""
OTHERS_S = 1.0
"""Between two looks at everything [s]."""
REST = 4
REST_OF_ALL = 100
"""A look that took long is followed by a pause of so many times its length; one at everything, by a longer one."""
HERE = "here"
"""Id of this machine."""

Key = tuple[Topic, str]
Listener = Callable[[Sequence[StateNotice]], None]
"""Called with at least one notice, from the watcher's thread; it returns at once, and raises nothing."""

logger = logging.getLogger(__name__)


@lru_cache(maxsize=8)
def changes(ws: Workspace) -> "StateWatcher":
    """The one watcher of a workspace."""
    return StateWatcher(ws)


class StateWatcher:
    """Tells its listeners which things have another version than before.

    Args:
        ws: The workspace.
        at_work_s: Between two looks at what is at work [s].
        others_s: Between two looks at everything [s].
    """

    def __init__(self, ws: Workspace, at_work_s: float = AT_WORK_S, others_s: float = OTHERS_S) -> None:
        self._look = _Look(ws)
        self._at_work_s = at_work_s
        self._others_s = others_s
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._versions: dict[Key, str] = {}
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell a listener the present versions of everything, and from then on what changes; returns what ends it.

        The first listener gets the present versions after the first look, a later one before `subscribe` returns.
        """
        with self._lock:
            self._listeners.append(listener)
            if self._versions:
                listener(_notices(self._versions))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="state watcher", daemon=True)
                self._thread.start()

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)
            self._wake.set()

        return unsubscribe

    @property
    def looking(self) -> bool:
        """Whether anything is looked at: only while somebody listens."""
        return self._thread is not None

    def _run(self) -> None:
        try:
            self._look_again_and_again()
        finally:  # whatever it died of, the next who listens begins another
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _look_again_and_again(self) -> None:
        all_due = 0.0
        while self._is_wanted():
            began = time.monotonic()
            try:
                everything = began >= all_due or self._look.was_listed_anew()
                found = self._look.everything() if everything else self._look.at_work()
                self._tell(found, everything)
            except (P2PError, OSError) as problem:  # a full disk ends no stream
                logger.warning("The runs directory cannot be watched: %s", problem)
            now = time.monotonic()
            pause = max(self._at_work_s, REST * (now - began))
            if everything:
                all_due = now + max(self._others_s, REST_OF_ALL * (now - began))
            self._wake.wait(pause)
            self._wake.clear()

    def _is_wanted(self) -> bool:
        """Whether somebody listens; where nobody does this thread ends, and another begins anew."""
        with self._lock:
            if not self._listeners:
                self._thread = None
                self._versions = {}
            return bool(self._listeners)

    def _tell(self, found: dict[Key, str], everything: bool) -> None:
        with self._lock:
            gone = dict.fromkeys(self._versions.keys() - found.keys(), "") if everything else {}
            changed = {key: version for key, version in found.items() if self._versions.get(key) != version} | gone
            self._versions = found if everything else self._versions | found
            if changed:
                notices = _notices(changed)
                for listener in self._listeners:
                    listener(notices)


class _Look:
    """What is looked at.

    Args:
        ws: The workspace.
    """

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._root = ws.settings.runs_dir
        self._listed: tuple[frozenset[str], ...] = ()
        self._lines: dict[str, tuple[KnownSession, str]] = {}
        """Sessions with the version of their lines."""

    def was_listed_anew(self) -> bool:
        """Whether a session, a job or a run of a suite was added or removed since everything was looked at."""
        return versions.listing(self._root) != self._listed

    def everything(self) -> dict[Key, str]:
        """Versions of all there is."""
        self._listed = versions.listing(self._root)
        known = known_sessions(self._ws)
        found = self._sessions(known)
        self._lines = {one.line.session_id: self._lines[one.line.session_id] for one in known}
        found |= {(Topic.SUITE_RUN, name): version for name, version in versions.suite_run_versions(self._root).items()}
        return found | self._jobs_and_machine()

    def at_work(self) -> dict[Key, str]:
        """Versions of what changes by itself."""
        alive = [name for name, (known, _) in self._lines.items() if known.alive]
        if not alive:
            return {}
        return self._sessions(known_sessions(self._ws, alive)) | self._jobs_and_machine()

    def _sessions(self, sessions: Sequence[KnownSession]) -> dict[Key, str]:
        """Versions of sessions, and of the trainings of those at work."""
        found = {}
        for known in sessions:
            name = known.line.session_id
            old = self._lines.get(name)
            if old is None or old[0] is not known:
                text = f"{known.line.model_dump_json()} {known.deleted_at}"
                self._lines[name] = (known, f"{zlib.crc32(text.encode()):08x}")
            found[Topic.SESSION, name] = f"{self._lines[name][1]}.{versions.session_version(self._root, name)}"
            if known.alive:
                runs = versions.run_versions(self._root, name, known.line.iteration)
                place = f"{name}.iter_{known.line.iteration}"
                found |= {(Topic.RUN, f"{place}.{run}"): version for run, version in runs.items()}
        return found

    def _jobs_and_machine(self) -> dict[Key, str]:
        found = {(Topic.JOB, name): version for name, version in versions.job_versions(self._root).items()}
        try:
            text = repr((machine_queue.owned_cores(), machine_queue.waiting()))
        except OSError:  # the directory of locks is not ours: nothing waits there
            text = ""
        return found | {(Topic.MACHINE, HERE): f"{zlib.crc32(text.encode()):08x}"}


def _notices(found: dict[Key, str]) -> tuple[StateNotice, ...]:
    return tuple(StateNotice(topic=topic, id=name, version=version) for (topic, name), version in found.items())
