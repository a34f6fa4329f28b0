"""Pictures on any machine: OpenGL in a child process where it works, the built-in ray caster where it does not."""
