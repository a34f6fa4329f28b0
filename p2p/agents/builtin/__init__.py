"""The author that needs no model: a grammar, templates, and rules on measurements."""
