"""How often judges are right."""
