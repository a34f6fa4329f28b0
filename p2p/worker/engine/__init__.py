"""Simulation of many environments of one kind, stepped together."""
