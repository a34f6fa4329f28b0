"""How fast trainings are, for an estimate before the first one.

Steps per second of trainings of a million steps with the presets, two at a time on two cores, medians of five seeds:
`p2p bench learn` (the table in docs/learning.md). Other machines differ.
"""

STEPS_PER_SECOND = {
    "Ant-v5": 5_616,
    "HalfCheetah-v5": 12_567,
    "Hopper-v5": 11_195,
    "Humanoid-v5": 2_498,
    "HumanoidStandup-v5": 2_522,
    "InvertedDoublePendulum-v5": 20_549,
    "InvertedPendulum-v5": 39_603,
    "Pusher-v5": 15_515,
    "Reacher-v5": 30_330,
    "Swimmer-v5": 17_040,
    "Walker2d-v5": 3_763,
}
"""Environment -> environment steps per second."""
