"""What the search of the presets tried: changes to the defaults of `TrainConfig`, by name."""

_LONG: dict[str, object] = {"n_steps": 128, "batch_size": 64, "n_epochs": 10, "learning_rate": 5e-4}
_SMOOTH: dict[str, object] = {**_LONG, "activation": "tanh", "log_std_init": -1.0, "gae_lambda": 0.9}

_WIDE: dict[str, object] = {
    **_LONG,
    "net_arch": (256, 256),
    "batch_size": 128,
    "learning_rate": 2e-4,
    "log_std_init": -1.0,
}

CANDIDATES: dict[str, dict[str, object]] = {
    "default": {},
    "long-rollouts": _LONG,
    "far-sighted": {**_LONG, "n_envs": 8, "n_steps": 256, "learning_rate": 3e-4, "gamma": 0.995},
    "smooth": _SMOOTH,
    "smooth-near-sighted": {**_SMOOTH, "gamma": 0.98},
    "smooth-fast": {**_SMOOTH, "gamma": 0.98, "learning_rate": 7e-4},
    "near-sighted": {**_LONG, "gamma": 0.98, "gae_lambda": 0.9},
    "quiet": {**_SMOOTH, "gamma": 0.98, "log_std_init": -2.0},
    "quiet-near-sighted": {**_SMOOTH, "gamma": 0.95, "log_std_init": -2.0},
    "classic": {**_LONG, "activation": "tanh", "log_std_init": 0.0, "learning_rate": 3e-4},
    "myopic": {"batch_size": 64, "n_epochs": 10, "log_std_init": -1.0, "gamma": 0.95},
    "steady": {"learning_rate": 5e-4, "learning_rate_end": 0.0},
    "steady-few-epochs": {"learning_rate": 5e-4, "learning_rate_end": 0.0, "n_epochs": 2},
    "long-rollouts-quiet": {**_LONG, "log_std_init": -1.0},
    "large-minibatches": {**_LONG, "batch_size": 128, "learning_rate": 7e-4, "log_std_init": -1.0},
    "constant-rate": {
        **_LONG,
        "batch_size": 128,
        "learning_rate": 7e-4,
        "log_std_init": -1.0,
        "learning_rate_end": 1.0,
    },
    "constant-rate-wide": {
        **_LONG,
        "batch_size": 128,
        "learning_rate": 3e-4,
        "log_std_init": -1.0,
        "learning_rate_end": 1.0,
        "net_arch": (256, 256),
    },
    "wide": {**_WIDE, "gae_lambda": 0.95},
    "wide-smooth": {**_WIDE, "gae_lambda": 0.9},
    "wide-smoother": {**_WIDE, "gae_lambda": 0.8},
    "many-epochs": {**_LONG, "n_epochs": 20, "log_std_init": -1.0},
    "many-epochs-wide": {**_LONG, "n_epochs": 20, "log_std_init": -1.0, "net_arch": (128, 128)},
    "endless": {**_LONG, "n_steps": 256, "learning_rate": 3e-4, "gamma": 0.9999, "gae_lambda": 0.98},
    "endless-classic": {
        "n_envs": 8,
        "n_steps": 512,
        "batch_size": 128,
        "n_epochs": 10,
        "learning_rate": 5e-4,
        "activation": "tanh",
        "log_std_init": 0.0,
        "gamma": 0.9999,
        "gae_lambda": 0.98,
    },
    "endless-few-environments": {
        "n_envs": 4,
        "n_steps": 1024,
        "batch_size": 256,
        "n_epochs": 10,
        "learning_rate": 6e-4,
        "activation": "tanh",
        "log_std_init": 0.0,
        "gamma": 0.9999,
        "gae_lambda": 0.98,
    },
}
