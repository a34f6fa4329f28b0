"""Requests and reports of the lab."""
