"""How often each judge is right, on clips whose truth is known."""
