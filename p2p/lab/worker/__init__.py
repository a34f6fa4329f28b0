"""The heavy half of the lab, started as `python -m p2p.lab.worker VERB JOB_DIR`."""
