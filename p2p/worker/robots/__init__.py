"""From a model file to an environment: what must be known is derived from the model."""
