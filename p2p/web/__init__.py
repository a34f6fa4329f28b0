"""REST and pages: p2p in a browser, and for programs that speak HTTP. `p2p web` starts it."""
