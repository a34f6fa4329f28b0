"""What is written in a session: criteria and rewards, by whom, and how they are mended, chosen and revised."""
