"""The heavy half: simulation, training and evaluation, in processes of their own."""
