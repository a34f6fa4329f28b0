"""Runs of suites: which sessions they have, how far these are, the exams of their policies."""
