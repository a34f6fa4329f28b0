"""How fast a training is, against a baseline and against the physics alone; what confinement costs."""
