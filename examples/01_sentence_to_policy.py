"""One sentence becomes a trained and judged policy. No key, under two minutes on two cores."""

import sys

import p2p

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
session = p2p.run("keep the pole balanced", env="InvertedPendulum-v5", runs_dir=runs_dir)
print("judged by:", *(criterion.title for criterion in session.criteria), sep="\n  ")

session.wait()  # the session is a process of its own: this one may stop waiting at any time
assert session.judgment is not None, session.error
print(session.judgment.diagnosis)
print("video:", session.video)
assert session.passed
