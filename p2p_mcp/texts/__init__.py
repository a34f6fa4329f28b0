"""Texts of prompts."""
