"""How honest the statistics of suites are, on simulated suites whose truth is known."""
