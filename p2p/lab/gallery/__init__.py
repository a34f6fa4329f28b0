"""Robots of installed packages, described and trained: pictures, facts, licences and verdicts."""
