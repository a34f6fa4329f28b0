"""Motions whose truth is known, for the exams of suites."""
