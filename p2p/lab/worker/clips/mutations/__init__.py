"""Clips made from clips that do what was asked, by a change that decides whether they still do."""
