"""Keys and addresses of providers, from the configuration alone."""

from pydantic import SecretStr

from p2p.config_location import location
from p2p.contracts.base import Contract
from p2p.contracts.inference import AuthenticationFailed
from p2p.settings import variables
from p2p.store.served_models import ServedModelStore

KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "vllm": ("VLLM_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
}
"""Variables that hold the key of a provider; the first that is set counts."""
LOCAL = {"vllm": "http://127.0.0.1:8000/v1", "ollama": "http://127.0.0.1:11434/v1"}
"""Servers on this machine, which need no key, and where they are when the configuration does not say."""


NETWORK = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that say how this machine reaches others."""


class Access(Contract):
    """Key, address and time limits of a provider."""

    key: SecretStr
    """Never written or shown."""
    base_url: str | None = None
    """None means the vendor's own."""
    silence_s: float = 120.0
    """A connection that says nothing for so long is given up [s]; streams say something every few seconds."""
    connect_s: float = 20.0


def variables_of(provider: str) -> tuple[str, ...]:
    """Environment variables that a process needs to reach a provider."""
    return (*KEYS.get(provider, ()), _address(provider), *NETWORK)


def access_to(provider: str, silence_s: float = 120.0) -> Access:
    """Key and address of a provider: `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`, and so on for each.

    Where no variable says where vLLM is, it is the server that `p2p models serve` started last.

    Args:
        provider: Its registered name.
        silence_s: A connection that says nothing for so long is given up [s].

    Raises:
        AuthenticationFailed: it needs a key, and none is set.
        InvalidInput: the configuration file is broken.
    """
    said = variables()
    names = KEYS.get(provider, (f"{provider.upper()}_API_KEY",))
    key = next((said[name].strip() for name in names if said.get(name, "").strip()), None)
    base_url = said.get(_address(provider))
    if provider == "vllm" and base_url is None and (servers := ServedModelStore().all()):
        key = servers[-1].key
        base_url = servers[-1].base_url
    base_url = base_url or LOCAL.get(provider)
    if key is None and provider not in LOCAL:
        raise AuthenticationFailed(
            f"{provider} needs a key, and {names[0]} is not set. Set it, or write it under [keys] in the "
            f"configuration file, {location()}."
        )
    return Access(key=SecretStr(key or "none"), base_url=base_url, silence_s=silence_s)


def _address(provider: str) -> str:
    return f"{provider.upper()}_BASE_URL"
