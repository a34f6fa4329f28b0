import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.agents.builtin.phrases import parse
from p2p.contracts.errors import UnknownPhrase
from p2p.envs.catalog import load
from p2p.rewards.templates.body_table import body_of
from p2p.rewards.templates.skill import Direction, HeightLevel, Manner, Pace, Params, Skill

F, B, LEFT, RIGHT = Direction


def understood(env: str, sentence: str) -> tuple[Skill, ...]:
    return parse(sentence, body_of(load(f"{env}-v5")))


def move(direction: Direction | None = None, gait: str | None = "walk", **said: object) -> Skill:
    manners = frozenset(said.pop("manners", ()))  # type: ignore[call-overload]
    return Skill("move", Params(direction=direction, gait=gait, manners=manners, **said))  # type: ignore[arg-type]


SENTENCES = [
    ("HalfCheetah", "run forward as fast as you can", (move(F, "run", pace=Pace.FAST, fastest=True),)),
    ("HalfCheetah", "Run backward!", (move(B, "run"),)),
    ("HalfCheetah", "make the cheetah run backwards, please", (move(B, "run"),)),
    ("HalfCheetah", "sprinting ahead", (move(F, "run"),)),
    ("HalfCheetah", "gallop forward", (move(F, "gallop"),)),
    ("HalfCheetah", "trot slowly", (move(None, "trot", pace=Pace.SLOW),)),
    ("HalfCheetah", "walk at 1 m/s smoothly", (move(speed=1.0, manners=[Manner.SMOOTH]),)),
    ("HalfCheetah", "walk forward at 1.5 meters per second", (move(F, speed=1.5),)),
    ("HalfCheetah", "stay low while walking forward", (move(F, level=HeightLevel.LOW),)),
    ("HalfCheetah", "walk forward at a height of 0.5 m", (move(F, height=0.5),)),
    ("HalfCheetah", "crawl", (move(None, "crawl"),)),
    ("Humanoid", "walk at 5 km/h", (move(speed=1.3889),)),
    ("Humanoid", "walk at half a meter per second", (move(speed=0.5),)),
    ("Humanoid", "walk at one and a half m/s", (move(speed=1.5),)),
    ("Humanoid", "walk at between 1 and one and a half m/s", (move(speed_range=(1.0, 1.5)),)),
    ("Hopper", "hop forward without falling", (move(F, "hop", manners=[Manner.NO_FALL]),)),
    ("Hopper", "jump forward", (Skill("jump", Params(qualities=frozenset({"jump_way:forward"}))),)),
    ("Ant", "walk to the left", (move(LEFT),)),
    ("Ant", "go right for ten seconds", (move(RIGHT, "move", duration_s=10.0),)),
    ("Swimmer", "swim forward", (move(F, "swim"),)),
    ("Walker2d", "walk forward slowly, upright", (move(F, pace=Pace.SLOW, manners=[Manner.UPRIGHT]),)),
    ("Walker2d", "walk forward with little effort", (move(F, manners=[Manner.SAVING]),)),
    ("HalfCheetah", "stand still", (Skill("still"),)),
    ("Walker2d", "don't move for 3 seconds", (Skill("still", Params(duration_s=3.0)),)),
    ("Walker2d", "balance", (Skill("posture", Params(manners=frozenset({Manner.UPRIGHT}))),)),
    ("HalfCheetah", "stay low", (Skill("posture", Params(level=HeightLevel.LOW)),)),
    ("HalfCheetah", "stand as tall as possible", (Skill("posture", Params(level=HeightLevel.HIGH)),)),
    ("HalfCheetah", "hold your torso at 50 cm", (Skill("posture", Params(height=0.5)),)),
    ("HalfCheetah", "jump as high as possible", (Skill("jump", Params(highest=True)),)),
    ("HalfCheetah", "jump 3 times", (Skill("jump", Params(times=3)),)),
    ("HalfCheetah", "jump 0.3 m high", (Skill("jump", Params(height=0.3)),)),
    ("Hopper", "jump up and down", (Skill("jump", Params(repeatedly=True)),)),
    ("Ant", "spin clockwise", (Skill("spin", Params(direction=RIGHT)),)),
    ("Ant", "turn left 90 degrees", (Skill("spin", Params(direction=LEFT, turns=0.25)),)),
    ("Ant", "turn around", (Skill("spin", Params(turns=0.5)),)),
    ("Ant", "turn left half a turn", (Skill("spin", Params(direction=LEFT, turns=0.5)),)),
    ("Ant", "spin right two and a half turns", (Skill("spin", Params(direction=RIGHT, turns=2.5)),)),
    ("Ant", "turn right two and a half times", (Skill("spin", Params(direction=RIGHT, turns=2.5)),)),
    (
        "Ant",
        "spin left twice then stand still",
        (Skill("spin", Params(direction=LEFT, times=2)), Skill("still")),
    ),
    (
        "HalfCheetah",
        "do a backflip and land on your feet",
        (Skill("flip", Params(direction=B, manners=frozenset({Manner.LANDING}))),),
    ),
    ("HalfCheetah", "wait two seconds, then run", (Skill("still", Params(duration_s=2.0)), move(gait="run"))),
    ("HalfCheetah", "do two backflips", (Skill("flip", Params(direction=B, times=2)),)),
    ("HalfCheetah", "double front flip", (Skill("flip", Params(direction=F, times=2)),)),
    ("HalfCheetah", "somersault forward", (Skill("flip", Params(direction=F)),)),
    ("HalfCheetah", "stand on your hind legs for 3 seconds", (Skill("rear", Params(duration_s=3.0)),)),
    ("HumanoidStandup", "stand up", (Skill("stand_up"),)),
    ("Reacher", "reach the target", (Skill("reach"),)),
    ("Pusher", "push the object to the goal", (Skill("push"),)),
    ("Pusher", "reach the target", (Skill("push"),)),
    ("InvertedPendulum", "keep the pole balanced", (Skill("balance"),)),
    ("InvertedDoublePendulum", "balance both poles", (Skill("balance"),)),
    (
        "InvertedPendulum",
        "keep the pole up in the middle",
        (Skill("balance", Params(manners=frozenset({Manner.CENTRED}))),),
    ),
]


@pytest.mark.parametrize(("env", "sentence", "skills"), SENTENCES, ids=[f"{e}: {s}" for e, s, _ in SENTENCES])
def test_a_sentence_becomes_skills(env: str, sentence: str, skills: tuple[Skill, ...]) -> None:
    assert understood(env, sentence) == skills


@pytest.mark.parametrize(
    ("env", "sentence", "named"),
    [
        ("HalfCheetah", "walk like a drunk", "'like a drunk'"),
        ("HalfCheetah", "frobnicate the quux", "'frobnicate the quux'"),
        ("HalfCheetah", "run forward but not fast", "'not fast'"),
        ("HalfCheetah", "walk forward and do not stumble", "'not stumble'"),
        ("HalfCheetah", "run at 3", "A number of times (3)"),
        ("HalfCheetah", "run 5 m forward", "distance"),
        ("HalfCheetah", "run at -1 m/s", "negative"),
        ("HalfCheetah", "walk forward and jump", "'walk' and 'jump'"),
        ("HalfCheetah", "walk forward and backward", "then walk backward"),
        ("HalfCheetah", "slowly", "how to move, but not what to do"),
        ("HalfCheetah", "", "nothing that the robot can do"),
        ("HalfCheetah", "please", "nothing that the robot can do"),
        ("HalfCheetah", "do a backflip slowly", "pace"),
        ("HalfCheetah", "jump then run then jump then run", "4 steps"),
        ("HalfCheetah", "walk for 90 seconds", "longer than"),
        ("Ant", "turn left", "needs an angle"),
        ("Ant", "walk on two legs", "'two legs' in"),
        ("Ant", "walk like a Drunk sailor!", "'like a Drunk sailor' in"),
        ("Ant", "walk at 1,5 m/s", "'1,5': a number takes no comma; say '1.5' or '15'"),
        ("Ant", "jump as far as possible", "As fast, or as far, as possible does not go with 'jump'"),
        ("Ant", "run, then slow down", "'slow down' cannot be measured: what changes little by little"),
        ("Humanoid", "move your left arm", "'arm' cannot be measured: of arms, waving alone is measured"),
        ("Humanoid", "raise your left arm", "'arm' cannot be measured: of arms, waving alone is measured"),
        ("Ant", "start, stop, start", "'start' does not say what is to begin"),
        ("Ant", "walk, then begin", "'begin' does not say what is to begin"),
        ("Ant", "walk slowly at first", "'at first' says that something else follows"),
        ("Ant", "run, then start by walking", "'start by' says that something else follows"),
        ("Ant", "spin left and so on", "'and so on' cannot be measured"),
        ("Ant", "walk with high steps", "'with high steps' cannot be measured: how high the feet are lifted"),
        ("Ant", "walk to me", "'to me' cannot be measured: there is nothing and nobody else"),
        ("Ant", "jump on the robot", "'on the robot' cannot be measured"),
        ("Ant", "stay within 1 m of the start", "'of the start' cannot be measured: no place is measured"),
        ("Ant", "stay in a circle", "'stay in a circle' cannot be measured: no place is measured"),
        ("HalfCheetah", "handstand", "'handstand' cannot be measured: nothing measures that yet"),
        ("Ant", "turn left 1.5", "'1.5' has no unit and is not a whole number of times"),
        ("Ant", "jump 1.5 times", "'1.5 times' has no unit and is not a whole number of times"),
        ("Ant", "turn left 90 degrees 1.5 times", "'1.5 times' has no unit and is not a whole number of times"),
    ],
)
def test_what_is_not_understood_is_named(env: str, sentence: str, named: str) -> None:
    with pytest.raises(UnknownPhrase) as caught:
        BuiltinAuthor().elicit(sentence, load(f"{env}-v5"))
    message = str(caught.value)
    assert named in message.splitlines()[0]
    assert env in message
    assert "<<train_reward env=" in message
    assert "<<choose_author>>" in message


@pytest.mark.parametrize(
    ("env", "sentence", "reason"),
    [
        ("Swimmer", "jump", "cannot leave it"),
        ("HalfCheetah", "walk to the left", "only move forward or backward"),
        ("HalfCheetah", "spin left twice", "vertical plane"),
        ("HalfCheetah", "swim forward", "can only"),
        ("Hopper", "stand on your hind legs", "single leg"),
        ("HalfCheetah", "reach the target", "no target"),
        ("Reacher", "run forward", "fixed to the ground"),
        ("InvertedPendulum", "do a backflip", "cart with a pole"),
        ("HalfCheetah", "balance the pole", "has no pole"),
        ("HalfCheetah", "stand up", "does not lie"),
        ("HalfCheetah", "run at 20 m/s", "cannot go that fast"),
        ("HalfCheetah", "run faster than 50 m/s", "cannot go that fast"),
        ("HalfCheetah", "do 100 backflips", "do not fit into the 20 s"),
        ("HalfCheetah", "jump 1000 times", "do not fit into the 20 s"),
        ("HalfCheetah", "jump 9 times for 3 seconds", "do not fit into the 3 s"),
        ("HalfCheetah", "jump for 0.5 seconds", "a jump: it does not fit into the 0.5 s"),
        ("HalfCheetah", "run faster and faster", "'faster and faster' cannot be measured"),
        ("Ant", "take a step back", "'a step' cannot be measured: a number of steps"),
        ("HalfCheetah", "run now and then", "'now and then' cannot be measured"),
        ("Ant", "spin left 30 times", "cannot make so many"),
        ("HumanoidStandup", "run forward", "on its back"),
        ("HumanoidStandup", "stand up without touching the floor with your trunk", "does not go with the rest"),
        ("Ant", "spin, then walk in a circle", "'in a circle to either side'"),
        ("Humanoid", "walk and wave", "'wave with one arm' does not go with the rest"),
        ("Ant", "do a backflip", "no reward is known"),
    ],
)
def test_a_skill_the_robot_cannot_do_is_refused_with_the_reason(env: str, sentence: str, reason: str) -> None:
    with pytest.raises(UnknownPhrase, match=reason):
        BuiltinAuthor().elicit(sentence, load(f"{env}-v5"))


@pytest.mark.parametrize(
    "sentence", ["first walk, then run", "start by walking, then run", "walk to begin with, and then run"]
)
def test_a_first_step_may_be_called_so(sentence: str) -> None:
    env = load("Ant-v5")
    assert BuiltinAuthor().elicit(sentence, env).criteria == BuiltinAuthor().elicit("walk, then run", env).criteria


@pytest.mark.parametrize("sentence", ["do a backflip upright", "stand still at 2 m/s", "reach the target in place"])
def test_nothing_that_is_said_is_silently_ignored(sentence: str) -> None:
    env = "Reacher-v5" if "target" in sentence else "HalfCheetah-v5"
    with pytest.raises(UnknownPhrase, match="does not go with"):
        BuiltinAuthor().elicit(sentence, load(env))
