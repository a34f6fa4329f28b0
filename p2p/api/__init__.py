"""Python API of p2p, exported as `p2p.<name>` and loaded on first use."""

from p2p.api.beginning import criteria, judge, load_policy, load_session, run, sessions, train
from p2p.api.benchmark import Benchmark, compare_benchmarks, load_benchmark, run_benchmark, verify_benchmark
from p2p.api.robot import add_robot, environment, environments, portrait, remove_robot
from p2p.api.session import Session

__all__ = [
    "Benchmark",
    "Session",
    "add_robot",
    "compare_benchmarks",
    "criteria",
    "environment",
    "environments",
    "judge",
    "load_benchmark",
    "load_policy",
    "load_session",
    "portrait",
    "remove_robot",
    "run",
    "run_benchmark",
    "sessions",
    "train",
    "verify_benchmark",
]
