"""Pictures, plots and videos of rollouts and of trainings."""
