"""Verb `train`: one run, from its configuration to its summary."""

import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from p2p.analysis.clear_verdict import IN_A_ROW
from p2p.analysis.guardrails import hacking_warning
from p2p.analysis.term_statistics import term_statistics
from p2p.analysis.training_dynamics import dynamics, dynamics_warnings
from p2p.contracts.errors import InvalidConfig, RewardFailed
from p2p.contracts.training import Purpose, ResumePoint, RunSummary, TrainConfig, first_seed
from p2p.contracts.training_plan import EarlyStop
from p2p.rewards.part_features import require_bounds
from p2p.store.arrays import save_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.policy import NumpyPolicy
from p2p.worker.code_host.host_process import HostFailed
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.learners.learner import Learner, make_learner
from p2p.worker.learners.ppo import explained_variance
from p2p.worker.reward.evaluator import RewardEvaluator, spec_of
from p2p.worker.rollout.collector import Collector
from p2p.worker.rollout.ending import EndRule
from p2p.worker.rollout.mirror import find_mirror
from p2p.worker.rollout.policy_inputs import PolicyInputs, beyond_the_simulator
from p2p.worker.rollout.starts import StartPlacer
from p2p.worker.rollout.training_env import TrainingEnv
from p2p.worker.sandbox import levels
from p2p.worker.sandbox.confine import forbid_processes
from p2p.worker.saved_state import State, joined, part
from p2p.worker.training.checkpoints import Checkpoints
from p2p.worker.training.metrics import Metrics
from p2p.worker.training.planned_starts import planning_warnings, start_states
from p2p.worker.training.process import peak_memory_mb
from p2p.worker.training.resume import ResumePoints, restored_selections, saved_selections
from p2p.worker.training.run import Run
from p2p.worker.training.selection import Selection
from p2p.worker.training.start import go_on_from
from p2p.worker.training.termination import sigterm_held_back

THREADS = "P2P_THREADS"
"""Variable: cores this training may use. With more than one the physics is spread, and checkpoints are evaluated in a
process beside it; the policy is the same."""
LOOKS_AGAIN = 4
"""Parts of the way to the next evaluation point: once a policy has passed, it is looked at again after one of them,
where a training may end early. One that has not passed costs no further evaluations."""


def train(job_dir: Path) -> None:
    """Train the run in `job_dir` and write all its files, the summary last.

    An earlier attempt that was interrupted goes on from its last resume point; without one, what it left is removed.

    Raises:
        InvalidInput: the directory lacks a readable configuration or environment.
        InvalidReward: the reward does not load.
        InvalidConfig: the environment refuses the configuration.
        RewardFailed: the reward raised, or returned what is not a finite number; the metrics so far stay.
    """
    train_run(Run.open(IterationRecord(job_dir))).remove()


def train_and_measure_untrained(job_dir: Path) -> None:
    """Like `train`, with the untrained policy as a checkpoint at step 0.

    Raises:
        InvalidInput, InvalidReward, InvalidConfig, RewardFailed: as in `train`.
    """
    train_run(Run.open(IterationRecord(job_dir)), untrained=True).remove()


def train_run(run: Run, *, untrained: bool = False) -> ResumePoints:
    """Train a run to its summary; return its resume points, to be removed after all later work.

    Args:
        run: What is trained.
        untrained: Whether the policy at its beginning is evaluated too.

    Raises:
        InvalidConfig, RewardFailed: as in `train`. A reward that has failed by itself would again, and leaves no point.
    """
    threads = int(os.environ.get(THREADS, "1"))
    points = ResumePoints(run)
    run.record.save_reward_spec(spec_of(run.reward))
    training = begin(run, threads, points)
    training.checkpoints.start()
    forbid_processes()  # all that a training needs runs now
    try:
        if untrained:
            training.measure_untrained()
        training.run(points)
    except RewardFailed as failure:
        if not isinstance(failure.__cause__, HostFailed):  # its process was ended, or too slow: perhaps not its fault
            points.remove()
        raise
    return points


def begin(run: Run, threads: int, points: ResumePoints) -> "Training":
    """A training at its last usable resume point, else at its start."""
    found = points.last()
    if found is not None:
        points.go_back(found[0])
        try:
            training = Training(run, threads)
            training.restore(*found)
        except Exception as error:  # whatever a point holds, the run can still be trained
            points.refuse(error)
        else:
            points.save(training.point(points), training.state())
            print(f"The training goes on after rollout {found[0].rollouts}.", file=sys.stderr, flush=True)
            return training
    points.go_back(None)
    training = Training(run, threads)
    training.go_on_from_policy()
    return training


class Training:
    """One run being trained.

    Args:
        run: What is trained.
        threads: Cores it may use.
    """

    def __init__(self, run: Run, threads: int) -> None:
        config = run.config
        self._run = run
        self._config = config
        try:
            first = first_seed(Purpose.TRAINING, config.seed)
        except ValueError as error:
            raise InvalidConfig(f"{error}. Choose another seed.") from error
        env = VecEnv(config, run.spec, config.n_envs, training=True, threads=threads, randomise=True)
        changing = config.curriculum
        if changing is not None:
            changing.require(run.spec)
            for name, goal in changing.goals.items():
                require_bounds(goal, run.spec, name)
        self._follows_checkpoints = changing is not None and changing.starts is not None and not changing.starts.goal
        if self._follows_checkpoints and run.intent is None:
            raise InvalidConfig(
                "curriculum.starts follows the success at checkpoints, which needs criteria, and there are none; give "
                'it a goal, which training episodes are to reach: ["up >= 0.9"].'
            )
        starts = start_states(run, first, threads)
        placer = StartPlacer(env, starts, first, changing.starts if changing else None) if starts else None
        ends = (config.end_when, config.end_when_lost)
        rule = EndRule(*ends, env.simulation) if any(ends) else None
        self.simulation = env.simulation
        inputs = PolicyInputs(config, env, learning=True, seeds=range(first, first + config.n_envs))
        self._learner: Learner = make_learner(
            config.learner, config, inputs.space, env.simulation.action_space, inputs.privileged
        )
        self.reward = RewardEvaluator(run.reward, env.simulation, config.seed)
        training_env = TrainingEnv(env, inputs, first, placer, rule, config)
        mirror = find_mirror(config, run.spec, run.reward) if config.mirror else None
        self._collector = Collector(config, training_env, self._learner, self.reward, mirror)
        self._metrics = Metrics(run.record, config)
        self.checkpoints = Checkpoints(run, own_process=threads > 1)
        self._size = config.n_envs * config.n_steps
        self._planned = math.ceil(config.total_timesteps / self._size) * self._size
        self._rollouts = 0
        self._resumed = 0
        self._peak_memory_mb = 0
        self._begun = time.monotonic()

    def go_on_from_policy(self) -> None:
        """Take over the policy that the run goes on from, if it does.

        Raises:
            InvalidInput: its files are damaged, or of other sizes.
        """
        go_on_from(self._run.record.start_policy, self._config, self._learner, self._collector)

    def run(self, points: ResumePoints) -> None:
        """Train to the end, or until the verdict is clear; write resume points, one more at SIGTERM before leaving."""
        with sigterm_held_back() as told_to_end:
            self._learn_all(points, told_to_end)
        selections = self.checkpoints.finish()
        seconds = time.monotonic() - self._begun
        steps = self._rollouts * self._size
        best = max(selections, key=lambda selection: selection.rank)
        numbers = dynamics(self._run.record.parse_scalars()[0])
        found = self._run.record.read_planned_states()
        log = self._collector.log
        recent = [episode.episode_return for episode in log.recent]
        self._run.record.save_summary(
            RunSummary(
                total_timesteps=steps,
                inherited_steps=self._run.record.inherited_steps,
                planned_steps=found.steps if found is not None else 0,
                training_time_s=seconds,
                final_episodic_return=sum(recent) / len(recent) if recent else None,
                total_episodes=log.count,
                steps_per_second=steps / seconds,
                learner=self._config.learner,
                reward=self.reward.report(seconds),
                peak_memory_mb=self._peak(),
                sandbox=levels.current(),
                resumed=self._resumed,
                early_stop=_early_stop(selections, self._planned) if steps < self._planned else None,
                best_checkpoint=best.step,
                best_selection_score=best.intent_score,
                best_selection_success=best.success_rate,
                best_selection_return=best.mean_return,
                terms=term_statistics(best.terms),
                dynamics=numbers,
                warnings=(*planning_warnings(found), *dynamics_warnings(numbers), *_hacking(selections)),
            )
        )

    def _learn_all(self, points: ResumePoints, told_to_end: Callable[[], bool]) -> None:
        """Make all rollouts, or those until the verdict is clear, or until the process is told to end."""
        rollouts = self._planned // self._size
        for number in range(self._rollouts + 1, rollouts + 1):
            self.learn(number * self._size)
            self._rollouts = number
            if evaluation_due(self._config, number) or self._looks_again(number):
                self._evaluate(number * self._size)
                if self._config.stop_at_score is not None and self.checkpoints.clear():
                    return
            if told_to_end():
                points.save(self.point(points), self.state())
                return
            self.checkpoints.collect()
            if points.due and number < rollouts:
                points.save(self.point(points), self.state())

    def _looks_again(self, number: int) -> bool:
        """Whether a checkpoint between two evaluation points is evaluated: where the last one passed, soon after it."""
        if self._config.stop_at_score is None or not look_again_due(self._config, number):
            return False
        return self.checkpoints.last_passes()

    def measure_untrained(self) -> None:
        """Evaluate the untrained policy as the checkpoint of step 0; skipped after a resume."""
        if self._rollouts == 0:
            self._evaluate(0)

    def learn(self, steps: int) -> None:
        """Collect one rollout and learn from it, up to step `steps`."""
        with self._metrics.timed("rollout_time"):
            batch = self._collector.collect((steps - self._size) / self._planned)
        rate = learning_rate(self._config, steps)
        with self._metrics.timed("train_time"):
            scalars = self._learner.update(batch, rate)
        scalars |= {"learning_rate": rate, "explained_variance": explained_variance(batch.values, batch.returns)}
        self._metrics.write(scalars | self._collector.course, self._collector.log, self._collector.term_means)

    def state(self) -> State:
        """State that later rollouts and updates depend on."""
        parts = {
            "learner": self._learner.state(),
            "collector": self._collector.state(),
            "metrics": self._metrics.state(),
            "selection": saved_selections(self.checkpoints.selections)[1],
        }
        return joined(parts)

    def point(self, points: ResumePoints) -> ResumePoint:
        """Resume point of the current state."""
        return ResumePoint(
            inputs=points.inputs,
            rollouts=self._rollouts,
            seconds=time.monotonic() - self._begun,
            resumed=self._resumed,
            peak_memory_mb=self._peak(),
            evaluated=saved_selections(self.checkpoints.selections)[0],
            pending=self.checkpoints.pending,
        )

    def restore(self, point: ResumePoint, state: State) -> None:
        """Continue from a resume point.

        Raises:
            RewardFailed: the reward raised, or gave no answer.
            ValueError: the point is of another training, or the environments cannot be brought there.
        """
        self._collector.restore(part(state, "collector"))
        self._learner.restore(part(state, "learner"))
        self._metrics.restore(part(state, "metrics"))
        self._rollouts = point.rollouts
        self._resumed = point.resumed + 1
        self._peak_memory_mb = point.peak_memory_mb
        self._begun = time.monotonic() - point.seconds
        self.checkpoints.restore(restored_selections(point.evaluated, part(state, "selection")), point.pending)

    def _peak(self) -> int:
        return max(self._peak_memory_mb, peak_memory_mb())

    def _evaluate(self, step: int) -> None:
        checkpoint = self._run.record.checkpoint(step)
        policy_of(self._config, self._learner, self._collector).save(checkpoint.policy_path)
        save_arrays(checkpoint.optimizer_path, self._learner.optimizer())
        self.checkpoints.evaluate(step)
        if self._follows_checkpoints and step > 0:  # whether the untrained policy is measured changes nothing
            self._collector.succeed(self.checkpoints.last_success())


def policy_of(config: TrainConfig, learner: Learner, collector: Collector) -> NumpyPolicy:
    """Policy of a learner, with the normalisers of its rollouts."""
    networks = learner.networks()
    space = collector.simulation
    observations = collector.observations.statistics
    rewards = collector.rewards.statistics
    seen = len(networks.weights[0])
    return NumpyPolicy(
        weights=networks.weights,
        biases=networks.biases,
        activation=config.activation,
        mean=observations.mean[:seen].copy(),
        variance=observations.var[:seen].copy(),
        privileged_mean=observations.mean[seen:].copy(),
        privileged_variance=observations.var[seen:].copy(),
        clip=config.clip_obs if config.normalize_obs else math.inf,
        low=space.action_low,
        high=space.action_high,
        log_std=networks.log_std,
        value_weights=networks.value_weights,
        value_biases=networks.value_biases,
        observation_count=observations.count,
        reward_mean=float(rewards.mean),
        reward_variance=float(rewards.var),
        reward_count=rewards.count,
        gamma=config.gamma,
        clip_reward=config.clip_reward,
        observation=config.observation,
        observed=tuple(one.name for one in beyond_the_simulator(config, space.spec)[1]),
    )


def learning_rate(config: TrainConfig, steps: int) -> float:
    """Learning rate after `steps` environment steps: linear from start to end."""
    remaining = 1.0 - steps / config.total_timesteps
    end = config.learning_rate * config.learning_rate_end
    return max(0.0, end + (config.learning_rate - end) * remaining)


def evaluation_due(config: TrainConfig, rollout: int) -> bool:
    """Whether the policy is evaluated after this rollout, counted from 1: the first past each point, and the last."""
    return _passes_point(config, rollout, config.num_evals)


def look_again_due(config: TrainConfig, rollout: int) -> bool:
    """Whether this rollout, counted from 1, is one after which a policy is evaluated again, if the last one passed."""
    return _passes_point(config, rollout, config.num_evals * LOOKS_AGAIN)


def _passes_point(config: TrainConfig, rollout: int, n: int) -> bool:
    """Whether a rollout is the first past one of `n` points spread evenly over a training."""
    size = config.n_envs * config.n_steps
    points = (config.total_timesteps * (i + 1) / n for i in range(n))
    return any((rollout - 1) * size < point <= rollout * size for point in points)


def _early_stop(selections: list[Selection], planned: int) -> EarlyStop:
    """Early stop at a training's last checkpoint."""
    before, last = (selection.step for selection in selections[-IN_A_ROW:])
    reason = (
        f"The verdict was clear: on their selection rollouts the checkpoints at steps {before:,} and {last:,} passed "
        "with the 95 % intervals above what is needed."
    )
    return EarlyStop(step=last, planned=planned, reason=reason)


def _hacking(selections: list[Selection]) -> tuple[str, ...]:
    warning = hacking_warning([s.mean_return for s in selections], [s.intent_score for s in selections])
    return () if warning is None else (warning,)
