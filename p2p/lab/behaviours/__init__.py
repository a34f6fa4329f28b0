"""What the built-in author's sentences become: its whole grammar as sessions of a suite, each "no" with its cause."""
