from session_views import run, running

from p2p.cli.follow import changes
from p2p.contracts.training_plan import TrainingPlan


def test_the_short_trainings_of_candidates_are_announced_before_those_of_the_iteration() -> None:
    short = TrainingPlan(n_runs=2, parallel=2, cores=2, candidate_steps=4_096)
    comparing = running(run(10, run_id="candidate_1_seed_10"), step="reward", remaining_s=4.0)
    comparing = comparing.model_copy(update={"plan": short})
    told = changes(running(step="reward"), comparing)
    assert "short trainings of candidates, 4,096 steps each: 2 runs, 2 at a time, on 2 cores, about 4 s left" in told
    later = changes(comparing, comparing.model_copy(update={"remaining_s": 3.0}))
    assert not any("short trainings" in line for line in later)
    assert "6 runs, 2 at a time, on 2 cores, about 40 s left" in changes(comparing, running(run(10), remaining_s=40.0))
