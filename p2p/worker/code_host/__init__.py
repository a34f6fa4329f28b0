"""Process for model-written code: arrays go in, numbers come out, nothing else is allowed."""
