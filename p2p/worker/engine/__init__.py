"""Physics: n environments of one kind, stepped together, and questions about their MuJoCo model."""
