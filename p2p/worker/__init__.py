"""Simulation, training and evaluation, in processes of their own."""
