"""`python -m p2p.web`: the same as `p2p web`."""

import sys

from p2p.cli import main

if __name__ == "__main__":
    sys.exit(main(["web", *sys.argv[1:]]))
