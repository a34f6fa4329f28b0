"""Language models: one interface, three vendors, caps on cost, retries on failure."""
