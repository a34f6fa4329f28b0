"""Rendering on any machine: OpenGL in a child process, else the built-in ray caster."""
