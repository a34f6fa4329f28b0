"""`python -m p2p.cli` is `p2p`."""

import sys

from p2p.cli import main

sys.exit(main())
