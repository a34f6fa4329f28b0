"""The writing roles played by language models."""
