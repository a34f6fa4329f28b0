"""`p2p-mcp`: the server, for clients of the Model Context Protocol to start.

The arguments are read by argparse: a client waits for the server, and typer would take a fifth of its start.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import p2p
from p2p.contracts.errors import INTERRUPTED, P2PError
from p2p.settings import Settings, adopt_config_file
from p2p_mcp.filters import TOOLSETS, ServerOptions
from p2p_mcp.policy_server import Content, PolicyServer
from p2p_mcp.remedies import in_tools
from p2p_mcp.token_file import kept_token, location
from p2p_mcp.tool_list import listed_tools

EXAMPLES = """\
examples:
  p2p-mcp                                  serve on stdio, as clients start it
  p2p-mcp --read-only --toolsets sessions  offer no tool that changes anything
  p2p-mcp --http --port 8765               serve this machine over Streamable HTTP
  p2p-mcp install claude-desktop           add this server to a client; see p2p-mcp install --help
  p2p-mcp agent "do a backflip"            let Claude work with these tools; see p2p-mcp agent --help
  p2p-mcp doctor                           say what works here, in every client, and what does not
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves; the exit codes are those of `p2p`."""
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        adopt_config_file()
        if words[:1] in (["install"], ["doctor"]):
            from p2p_mcp.install import commands  # noqa: PLC0415  a client's start need not wait for it

            return commands.COMMANDS[words[0]](words[1:])
        if words[:1] == ["agent"]:
            # no front end starts another: the process becomes `p2p agent`
            os.execv(sys.executable, [sys.executable, "-m", "p2p.cli", *words])
        options = _parser().parse_args(words)
        logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
        return _serve(options)
    except P2PError as error:
        print(in_tools(str(error)), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def _serve(options: argparse.Namespace) -> int:
    wanted = ServerOptions(
        toolsets=_names(options.toolsets),
        tools=_names(options.tools),
        read_only=options.read_only,
        slim=options.slim,
    )
    settings = Settings.from_environment(options.runs_dir)

    def content(server: PolicyServer) -> Content:
        from p2p.service.workspace import Workspace  # noqa: PLC0415  a client is greeted before it is loaded
        from p2p_mcp.server import fill  # noqa: PLC0415  a client is greeted before it is loaded

        return fill(server, Workspace(settings), wanted)

    server = PolicyServer(content, partial(listed_tools, wanted))
    if options.http or wanted.tools or wanted.toolsets:  # wrong names are told before a client connects
        server.fill()
    if not options.http:
        server.run("stdio")
        return 0
    from p2p_mcp.http import http_options, serve_http  # noqa: PLC0415  uvicorn is not needed on stdio

    http = http_options(
        host=options.host,
        port=options.port,
        token=options.token or _variable("TOKEN") or None,
        allowed_hosts=tuple(options.allowed_host),
    )
    note = ""
    if http.token is None and http.local and options.no_token:
        note = "Every user of this machine is let in, and so are pages from it: there is no token."
    elif http.token is None and http.local:  # every user, and every page in a browser, can reach the port
        path = location()
        http = http.model_copy(update={"token": kept_token(path)})
        note = f"Clients send the header  Authorization: Bearer {http.token}  (kept in {path}; --no-token: without)"
    if options.token:
        note = (
            "Warning: every user of this machine can read a --token in the list of its processes. Set P2P_MCP_TOKEN "
            f"instead; on 127.0.0.1 leave it out, and the one in {location()} is asked for, which only you can read."
        )
    serve_http(server, http, note)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="p2p-mcp",
        description="Serve p2p to clients of the Model Context Protocol, on stdio unless told otherwise.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"p2p {p2p.__version__}")
    parser.add_argument("--runs-dir", type=Path, help="where sessions are kept (P2P_RUNS_DIR, ./runs)")
    which = parser.add_argument_group("which tools are offered")
    which.add_argument(
        "--toolsets", default=_variable("TOOLSETS"), metavar="A,B", help=f"only these: {', '.join(TOOLSETS)}"
    )
    which.add_argument("--tools", default=_variable("TOOLS"), metavar="A,B", help="only tools of these names")
    which.add_argument(
        "--read-only",
        action="store_true",
        default=bool(_variable("READ_ONLY")),
        help="only tools that change nothing; wins over all others",
    )
    which.add_argument(
        "--slim",
        action="store_true",
        default=bool(_variable("SLIM")),
        help="only the seven that the loop cannot do without",
    )
    http = parser.add_argument_group("Streamable HTTP")
    http.add_argument("--http", action="store_true", help="listen instead of serving on stdio")
    http.add_argument("--host", default="127.0.0.1", help="address to bind (127.0.0.1)")
    http.add_argument("--port", type=int, default=8765, help="port to bind; 0 takes any free one (8765)")
    http.add_argument(
        "--token",
        help="what clients send as Authorization: Bearer. Every user of this machine can read it in the list of its "
        "processes: set P2P_MCP_TOKEN instead, or leave it out and take the one kept in ~/.config/p2p/mcp_token",
    )
    http.add_argument(
        "--no-token", action="store_true", help="let every user of this machine in, instead of asking for the token"
    )
    http.add_argument(
        "--allowed-host", action="append", default=[], help="name under which others reach this server; again for more"
    )
    return parser


def _variable(name: str) -> str:
    return os.environ.get(f"P2P_MCP_{name}", "")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
