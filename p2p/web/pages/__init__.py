"""The pages: templates, and the static files they need."""
