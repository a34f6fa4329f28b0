"""From a policy and n environments to recorded blocks: acting, stepping, starting, evaluating."""
