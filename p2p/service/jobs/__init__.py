"""Jobs of this runs directory: started, queued, waited for, ended."""
