"""Judges measured on clips: the predicates meet their targets, and bad judges are found out."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import ClaimKind
from p2p.envs import catalog
from p2p.lab.contracts.calibration import Calibration, ClipsRequest, ClipVerdict, on_target
from p2p.lab.judges.by_hand import BY_HAND, written_by_hand
from p2p.lab.judges.clip_recording import ClipRecording, read_clips
from p2p.lab.judges.measure import JUDGES, calibrate
from p2p.lab.records import ClipsRecord
from p2p.lab.worker.clips.job import make

SUBSET = ("HalfCheetah-v5", "Ant-v5", "Swimmer-v5")


class GivesAll:
    """Passes everything."""

    name = "gives_all"

    def judge(self, _recording: ClipRecording, _intent: Intent) -> ClipVerdict:
        return ClipVerdict(passed=True, score=1.0, cost_usd=0.25)


class TossesACoin:
    """Is as good as chance."""

    name = "tosses_a_coin"

    def __init__(self) -> None:
        self._random = random.Random(0)

    def judge(self, _recording: ClipRecording, _intent: Intent) -> ClipVerdict:
        score = self._random.random()
        return ClipVerdict(passed=score > 0.5, score=score)


class Shrugs:
    """Never decides."""

    name = "shrugs"

    def judge(self, recording: ClipRecording, _intent: Intent) -> ClipVerdict:
        assert recording.qpos.shape[0] == len(recording.features["time"]) + 1
        return ClipVerdict(passed=None, score=None)


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    made = []
    for env_id in SUBSET:
        directory = tmp_path_factory.mktemp(env_id)
        ClipsRecord(directory).save_request(ClipsRequest(env_id=env_id, seed=11, variations=1))
        make(directory)
        made.append(directory)
    return made


@pytest.fixture
def more_judges(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for judge in (GivesAll, TossesACoin, Shrugs):
        monkeypatch.setitem(JUDGES, judge.name, judge)
    return


def measured(directories: list[Path], *judges: str, limit: int | None = None) -> Calibration:
    intents = {}
    for directory in directories:
        for recording in read_clips(directory).recordings():
            for claim in recording.clip.claims:
                pair = (recording.clip.env_id, claim.sentence)
                if pair not in intents:
                    author = BuiltinAuthor()
                    intents[pair] = written_by_hand(*pair) or author.elicit(pair[1], catalog.load(pair[0]))
    return calibrate(directories, intents, judges, limit)


def test_the_predicates_meet_their_targets_on_a_part_of_the_set(directories: list[Path]) -> None:
    found = measured(directories, "predicates")
    (judge,) = found.judges
    assert found.n_clips > 250
    assert on_target(judge), judge.mistakes
    assert judge.false_fails.count == 0, judge.mistakes
    assert judge.repeated > 100


def test_the_same_clips_are_judged_the_same_twice(directories: list[Path]) -> None:
    one, again = (measured(directories[2:], "predicates").judges[0] for _ in range(2))
    timing = {"seconds_per_verdict": 0.0}
    assert one.model_copy(update=timing) == again.model_copy(update=timing)


@pytest.mark.usefixtures("more_judges")
def test_bad_judges_are_found_out(directories: list[Path]) -> None:
    found = measured(directories[2:], "gives_all", "tosses_a_coin", "shrugs")
    gives_all, coin, shrugs = found.judges
    assert gives_all.costly.value == 1.0
    assert gives_all.auroc == 0.5
    assert gives_all.usd_per_verdict == 0.25
    assert 0.3 < (coin.auroc or 0.0) < 0.7
    assert (coin.score_variance or 0.0) > 0.0
    assert coin.unsteady > 0
    assert shrugs.verdicts[ClaimKind.POSITIVE].keys() == {"no_verdict"}
    assert shrugs.false_fails.value == 1.0
    assert shrugs.auroc is None
    assert not any(map(on_target, found.judges))


def test_fewer_questions_are_drawn_evenly_from_all_robots(directories: list[Path]) -> None:
    found = measured(directories, "predicates", limit=60)
    assert found.claims == 60
    assert found.judges[0].by_robot.keys() == set(SUBSET)


def test_criteria_by_hand_are_of_sentences_the_author_does_not_understand() -> None:
    for intent in BY_HAND:
        with pytest.raises(InvalidInput):
            BuiltinAuthor().elicit(intent.prompt, catalog.load(intent.env_id))


def test_an_unknown_judge_and_missing_clips_are_refused(directories: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="predicates"):
        calibrate(directories, {}, ["nobody"])
    with pytest.raises(InvalidInput, match="p2p judge calibrate"):
        calibrate([tmp_path], {}, ["predicates"])
