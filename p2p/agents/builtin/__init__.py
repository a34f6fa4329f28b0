"""Author without a model: a grammar, templates, and rules on measurements."""
