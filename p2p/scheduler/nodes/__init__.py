"""Other machines: reached, prepared, and kept in step with the job directories here."""
