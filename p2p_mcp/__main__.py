"""`python -m p2p_mcp`: the same as `p2p-mcp`."""

import sys

from p2p_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
