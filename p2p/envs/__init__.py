"""Facts of environments, without starting one."""
