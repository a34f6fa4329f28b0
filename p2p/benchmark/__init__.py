"""The suites that come with p2p, their exams, and `python -m p2p.benchmark`."""
