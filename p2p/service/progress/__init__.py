"""Progress of sessions and jobs, read from their directories alone."""
