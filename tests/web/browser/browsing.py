"""Pages of a server of its own, in a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from filmed import Filmed
from test_server import TOKEN, Server

NODE_MODULES = Path(__file__).parents[3] / ".external/node_modules"
"""What `make test-external` installs."""
Filming = Callable[[str], Filmed]
"""Environment -> a filmed session of it."""


class Site:
    """A server over a runs directory, and pages of it in a browser.

    Args:
        browser: The browser.
        runs_dir: The runs directory.
    """

    def __init__(self, browser: Any, runs_dir: Path) -> None:
        self._browser = browser
        self.server = Server(runs_dir)
        self._contexts: list[Any] = []
        self.problems: list[str] = []
        """What the browser complained of: errors, and what the security policy refused."""

    def open(
        self, path: str, width: int = 1280, scheme: str = "light", *, scripts: bool = True, still: bool = False
    ) -> Any:
        """A page, when it is ready; `still` asks for reduced motion."""
        # a POSIX locale is no language to uPlot
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            locale="en-US",
            java_script_enabled=scripts,
            reduced_motion="reduce" if still else "no-preference",
        )
        self._contexts.append(context)
        page = self.tab(context)
        joined = "&" if "?" in path else "?"
        page.goto(f"{self.address(path)}{joined}token={TOKEN}")
        return page

    def tab(self, context: Any) -> Any:
        """Another page of the same visitor."""
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        return page

    def address(self, path: str) -> str:
        """Of a page, without a token."""
        return f"http://127.0.0.1:{self.server.port}{path}"

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        self.server.stop()
        self.server.kill()

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)
