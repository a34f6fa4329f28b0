"""Words for models: templates, and how measured data and logs are set apart in them."""
