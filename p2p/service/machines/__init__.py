"""This machine and the nodes: resources, setup, and model servers."""
