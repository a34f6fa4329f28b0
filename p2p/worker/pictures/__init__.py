"""Pictures, plots and videos of rollouts and trainings."""
