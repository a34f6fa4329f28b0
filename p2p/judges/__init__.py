"""Judges: does a policy do what was asked?"""
