"""The search itself: random disturbances of a motion that does what is asked, the best of them disturbed further.

A simple evolution strategy. What it climbs is the score of the criteria plus how wrong the simulator's states say the
motion is, so it ends up where the two come apart.
"""

import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from p2p.analysis import predicates, scoring
from p2p.analysis.windows import SLACK
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.judgment import MET_SHARE_NEEDED
from p2p.contracts.known_motions import Claim, ClaimKind, Clip
from p2p.contracts.training import Rollout
from p2p.envs import catalog
from p2p.lab.contracts.attack import MOST_FINDS, Attack, AttackFind, AttackRequest
from p2p.lab.worker.attack import genes, truth
from p2p.lab.worker.attack.genes import Genome
from p2p.worker.known_motions.clips import MadeClip, scenes
from p2p.worker.known_motions.motion import Motion
from p2p.worker.known_motions.motion_player import MotionPlayer, Played
from p2p.worker.known_motions.robots import ROBOTS, KnownSentence, Robot

ELITES = 12
"""Best motions that are disturbed further."""
FRESH = 0.4
"""Share of the tries that begin anew."""
MOST_WRONG = 1.5
"""Of how wrong a motion is counts no more than this, for beyond it nothing is gained."""


@dataclass(frozen=True)
class Tried:
    """One motion of the search."""

    genome: Genome
    base: int
    passed: bool
    score: float
    wrong: tuple[truth.Wrong, ...]
    played: Played

    @property
    def worst(self) -> float:
        """How wrong it is in the respect in which it is most wrong."""
        return self.wrong[0].how_much if self.wrong else 0.0

    @property
    def fitness(self) -> float:
        """High where the criteria and the simulator disagree."""
        return float(self.passed) + self.score + min(self.worst, MOST_WRONG)

    @property
    def fools(self) -> bool:
        """Whether it passes and is wrong beyond doubt."""
        return self.passed and self.worst >= 1.0


class Search:
    """A search for motions that fool the criteria of one sentence.

    Args:
        request: What is attacked, how often, from which seed.

    Raises:
        UnknownName: no such robot is in the calibration set, or it is not asked for this sentence.
        InvalidInput: no scripted motion does what is asked, so that there is nothing to disturb.
    """

    def __init__(self, request: AttackRequest) -> None:
        self._request = request
        if request.env_id not in ROBOTS:
            raise UnknownName("robot of the calibration set", request.env_id, ROBOTS)
        self._robot = ROBOTS[request.env_id]
        self._asked = _asked(self._robot, request.intent.prompt)
        self._spec = catalog.load(request.env_id)
        self._stage = MotionPlayer(self._spec, self._robot.settles, np.array(self._robot.crouch or 0.0))
        self.seconds = max(self._robot.seconds, request.intent.episode_s)
        self._bases = [
            scene.build(Motion.standing(self._spec.dt, self.seconds))
            for clip, scene in scenes(self._robot, request.seed, 2)
            if clip.kind_for(self._asked.sentence) is ClaimKind.POSITIVE
        ]
        self._bases = [base for base in self._bases if base.limp is None]
        if not self._bases:
            raise InvalidInput(f"No scripted motion of {request.env_id} does “{self._asked.sentence}”.")

    @property
    def dt(self) -> float:
        """Control period [s]."""
        return self._spec.dt

    def run(self) -> tuple[Attack, list[MadeClip]]:
        """Search; the clips are those of the finds, in their order."""
        begun = time.monotonic()
        rng = np.random.default_rng(self._request.seed)
        elites: list[Tried] = []
        passes = 0
        fooled = Counter[str]()
        first = None
        finds: dict[str, tuple[int, Tried]] = {}
        for number in range(1, self._request.tries + 1):
            tried = self._try(elites, rng)
            if tried is None:
                continue
            elites = sorted([*elites, tried], key=lambda t: -t.fitness)[:ELITES]
            passes += tried.passed
            if tried.fools:
                words = tried.wrong[0].words
                fooled[words] += 1
                first = first or number
                if words not in finds or tried.worst > finds[words][1].worst:
                    finds[words] = number, tried
        kept = sorted(finds.values(), key=lambda item: -item[1].worst)[:MOST_FINDS]
        clips = [self._clip(place, tried) for place, (_, tried) in enumerate(kept, start=1)]
        attack = Attack(
            env_id=self._request.env_id,
            sentence=self._asked.sentence,
            seed=self._request.seed,
            tries=self._request.tries,
            passes=passes,
            wrong_passes=sum(fooled.values()),
            first_at=first,
            by_wrong=dict(fooled.most_common()),
            finds=tuple(_find(clip.clip, *found) for clip, found in zip(clips, kept, strict=True)),
            seconds=time.monotonic() - begun,
        )
        return attack, clips

    def _try(self, elites: list[Tried], rng: np.random.Generator) -> Tried | None:
        if not elites or rng.random() < FRESH:
            genome = genes.drawn(rng)
            base = int(rng.integers(len(self._bases)))
        else:
            parent = elites[rng.integers(len(elites))]
            genome = genes.near(parent.genome, rng)
            base = parent.base
        played = genes.play(genome, self._bases[base], self._stage, self._robot)
        if played is None:
            return None
        passed, score = self._judged(played)
        found = truth.wrongs(self._robot, self._asked, truth.SimulatedMotion.of(self._stage, played, self.seconds))
        return Tried(genome, base, passed, score, tuple(found), played)

    def _judged(self, played: Played) -> tuple[bool, float]:
        """Whether the criteria pass a motion as the one report rollout of a policy, and its score."""
        intent = self._request.intent
        measured = predicates.measure(intent, played.features, self._spec.dt)
        if any(measurement.visual for measurement in measured):
            raise InvalidInput(
                f"Some criteria of “{intent.prompt}” are judged by eyes: only measured ones are attacked."
            )
        rollout = Rollout(seed=0, episode_return=0.0, length=len(played.actions))
        scores = scoring.score(intent, [measured], [rollout])
        score = scores.intent_score or 0.0
        met = scores.success_rate is not None and scores.success_rate >= MET_SHARE_NEEDED
        return met and score >= self._request.pass_threshold - SLACK, score

    def _clip(self, place: int, tried: Tried) -> MadeClip:
        clip = Clip(
            clip_id=f"attack-{place}",
            env_id=self._request.env_id,
            motion=" and ".join(wrong.words for wrong in tried.wrong if wrong.how_much >= 1.0),
            parameters={},
            seconds=self.seconds,
            claims=(Claim(sentence=self._asked.sentence, kind=ClaimKind.EXPLOIT),),
        )
        return MadeClip(clip, tried.played)


def _asked(robot: Robot, sentence: str) -> KnownSentence:
    known = {asked.sentence: asked for asked in robot.asked if asked.skill in truth.SKILLS}
    if sentence not in known:
        raise UnknownName(f"sentence whose truth is known of {robot.env_id}", sentence, known)
    return known[sentence]


def _find(clip: Clip, number: int, tried: Tried) -> AttackFind:
    return AttackFind(
        clip_id=clip.clip_id,
        wrong=tuple(wrong.words for wrong in tried.wrong if wrong.how_much >= 1.0),
        score=tried.score,
        made_from={name: (gene.strength, gene.time, gene.rate) for name, gene in tried.genome.items()},
        found_at=number,
    )
