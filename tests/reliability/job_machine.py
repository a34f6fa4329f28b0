"""Random histories of jobs against a model of thirty lines, with real supervisors and real processes."""

import os
import secrets
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

from findings import Findings
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from watching import handle, processes_of, until

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobSpec, JobState
from p2p.scheduler import machine_queue
from p2p.scheduler.backends.local import LocalBackend

KEYS = st.sampled_from(("a", "b", "c"))
PLACES = 2
SHARES = 6
"""Processes that try histories side by side: most of a step is waiting."""
JOB = JobSpec(argv=("/bin/sh", "-c", "echo $$ >> lives; read code < door; exit $code"))


@dataclass
class Model:
    """What a job should do: it lives once, until it ends; only one that did not complete lives again."""

    state: JobState | None = None
    lives: int = 0

    def submit(self) -> None:
        if self.state not in (JobState.RUNNING, JobState.COMPLETED):
            self.state, self.lives = JobState.RUNNING, self.lives + 1

    def end(self, state: JobState) -> None:
        if self.state is JobState.RUNNING:
            self.state = state

    def cancel(self) -> None:
        if self.state in (JobState.RUNNING, JobState.LOST):
            self.state = JobState.CANCELLED


class JobMachine(RuleBasedStateMachine):
    """Three jobs, and a line of two places, in a directory of their own."""

    steps: ClassVar[Counter[str]] = Counter()
    """Made by this process, by rule."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="p2p-machine-"))
        self.models = {name: Model() for name in ("a", "b", "c")}
        for name in self.models:
            (self.place / name).mkdir()
            os.mkfifo(self.place / name / "door")
        self.line = f"turn_{secrets.token_hex(8)}"
        self.holders: list[int] = []
        """Processes that hold a place of the line each."""

    def job(self, name: str) -> Path:
        return self.place / name

    @rule(name=KEYS)
    def submit(self, name: str) -> None:
        self.steps["submit"] += 1
        LocalBackend().submit(JOB, self.job(name))
        self._submitted(name)

    @rule(name=KEYS)
    def submit_from_two_sides(self, name: str) -> None:
        self.steps["submit from two sides"] += 1
        other = threading.Thread(target=LocalBackend().submit, args=(JOB, self.job(name)))
        other.start()
        LocalBackend().submit(JOB, self.job(name))
        other.join()
        self._submitted(name)

    @rule(name=KEYS, after_s=st.floats(0, 0.15))
    def submit_and_die_and_submit_again(self, name: str, after_s: float) -> None:
        self.steps["submit, die, submit again"] += 1
        if not (child := os.fork()):
            LocalBackend().submit(JOB, self.job(name))
            os._exit(0)
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        LocalBackend().submit(JOB, self.job(name))
        self._submitted(name)

    @rule(name=KEYS)
    def poll_from_another_process(self, name: str) -> None:
        self.steps["poll"] += 1
        if self.models[name].state is None:
            return
        if not (child := os.fork()):
            os._exit(int(LocalBackend().status(self.job(name)).state is not self.models[name].state))
        assert os.waitpid(child, 0)[1] == 0, "another process sees another state"

    @rule(name=KEYS)
    def cancel(self, name: str) -> None:
        self.steps["cancel"] += 1
        if self.models[name].state is None:
            return
        LocalBackend().cancel(self.job(name))
        self.models[name].cancel()

    @rule(name=KEYS, code=st.sampled_from((0, 0, 7)))
    def finish(self, name: str, code: int) -> None:
        self.steps["finish"] += 1
        if self.models[name].state is JobState.RUNNING:
            (self.job(name) / "door").write_text(f"{code}\n")
            self._ended(name, JobState.FAILED if code else JobState.COMPLETED)
            assert LocalBackend().status(self.job(name)).exit_code == code

    @rule(name=KEYS)
    def kill_the_job(self, name: str) -> None:
        self.steps["kill the job"] += 1
        if self.models[name].state is JobState.RUNNING:
            os.kill(handle(self.job(name))["child"], signal.SIGKILL)
            self._ended(name, JobState.FAILED)
            assert LocalBackend().status(self.job(name)).signal == signal.SIGKILL

    @rule(name=KEYS)
    def kill_the_supervisor(self, name: str) -> None:
        self.steps["kill the supervisor"] += 1
        if self.models[name].state is JobState.RUNNING:
            os.kill(handle(self.job(name))["pid"], signal.SIGKILL)
            self._ended(name, JobState.LOST)

    @rule()
    def take_a_place(self) -> None:
        self.steps["take a place"] += 1
        reader, writer = os.pipe()
        if not (child := os.fork()):
            spec = {"line": self.line, "places": PLACES}
            os.write(writer, b"y" if machine_queue.admit(spec, "", (), lambda **_: None, lambda: True) else b"n")
            signal.pause()
        took = os.read(reader, 1) == b"y"
        os.close(reader)
        os.close(writer)
        assert took == (len(self.holders) < PLACES)
        self.holders.append(child)
        if not took:
            self.free_a_place(crash=True)

    @rule(crash=st.booleans())
    def free_a_place(self, crash: bool) -> None:
        self.steps["free a place"] += 1
        if self.holders:
            holder = self.holders.pop()
            os.kill(holder, signal.SIGKILL if crash else signal.SIGTERM)
            os.waitpid(holder, 0)

    @invariant()
    def every_job_stands_as_the_model_says(self) -> None:
        for name, model in self.models.items():
            try:
                state = LocalBackend().status(self.job(name)).state
            except InvalidInput:
                state = None
            assert state is model.state, f"{name} is {state}, expected {model.state}"
            assert self._lives(name) == model.lives, f"{name} lived {self._lives(name)} times, expected {model.lives}"

    def teardown(self) -> None:
        while self.holders:
            self.free_a_place(crash=True)
        for name, model in self.models.items():
            if model.state is not None:
                LocalBackend().cancel(self.job(name))
        left = processes_of(self.place)
        shutil.rmtree(self.place)
        assert not left, f"processes {left} are left"

    def _submitted(self, name: str) -> None:
        self.models[name].submit()
        until(lambda: self._lives(name) >= self.models[name].lives, 30)
        until(lambda: LocalBackend().status(self.job(name)).state is not JobState.SUBMITTING, 30)

    def _ended(self, name: str, state: JobState) -> None:
        self.models[name].end(state)
        until(lambda: LocalBackend().status(self.job(name)).state.finished, 30)

    def _lives(self, name: str) -> int:
        lives = self.job(name) / "lives"
        return len(lives.read_text().splitlines()) if lives.exists() else 0


def job_machine(count: int, place: Path, steps: int = 50) -> Findings:
    """`count` histories of up to `steps` steps."""
    findings = Findings()
    findings.watch_for("broken invariants")
    shares = min(SHARES, count)
    sizes = [count // shares + (number < count % shares) for number in range(shares)]
    with ProcessPoolExecutor(shares, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(_share, range(shares), sizes, [steps] * shares))
    made = sum((Counter(taken) for taken, _ in results), Counter[str]())
    findings.count("histories", count)
    findings.count("steps", sum(made.values()))
    for _, problem in results:
        if problem:
            findings.went_wrong("broken invariants", problem)
    place.mkdir(parents=True, exist_ok=True)
    (place / "steps.txt").write_text("\n".join(f"{times:6} {name}" for name, times in made.most_common()))
    return findings


def _share(number: int, examples: int, steps: int) -> tuple[dict[str, int], str]:
    """Some of the histories, in a process of its own: steps by rule, and what was broken."""
    wanted = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    problem = ""
    try:
        run_state_machine_as_test(seed(number)(JobMachine), settings=wanted)
    except BaseException as error:  # also what hypothesis raises for a flaky example
        problem = "".join(traceback.format_exception(error))
    return dict(JobMachine.steps), problem
