"""The adversary of criteria: a search for motions that meet them and do not do what was asked."""
