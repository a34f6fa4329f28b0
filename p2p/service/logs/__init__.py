"""Logs of sessions for other programs: TensorBoard, Weights & Biases."""
