"""Exams of suites, measured."""
