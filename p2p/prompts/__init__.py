"""Prompt templates for models; measured data and logs are set apart in them."""

from p2p.prompts.rendering import render

__all__ = ["render"]
