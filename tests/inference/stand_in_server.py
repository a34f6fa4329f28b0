"""Stands in for `vllm serve`: the same arguments, /health, /v1/models; how it behaves is in STAND_IN."""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

behaviour = os.environ.get("STAND_IN", "")
model, port = sys.argv[1], int(sys.argv[sys.argv.index("--port") + 1])
began = time.monotonic()
if "stubborn" in behaviour:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "child" in behaviour:
    print("child", subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
if "crash" in behaviour:
    sys.exit("CUDA out of memory, says the stand-in")


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        known = self.headers.get("authorization") == f"Bearer {os.environ['VLLM_API_KEY']}"
        late = "late" in behaviour and time.monotonic() < began + 0.5
        if late or not (known or self.path == "/health"):
            self.send_error(503 if late else 401)
            return
        body = b"" if self.path == "/health" else json.dumps({"object": "list", "data": [{"id": model}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


print("keys:", sorted(name for name in os.environ if name.endswith("_API_KEY")), flush=True)
if "deaf" in behaviour:
    time.sleep(60)
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
