"""What is known about environments without starting one."""
