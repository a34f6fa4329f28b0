"""Language models: one interface, three vendors, and what keeps their cost and their failures in bounds."""
