"""Judgments: by measurement, by code, by eyes and by people."""
