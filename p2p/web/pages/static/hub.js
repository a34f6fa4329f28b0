// The shared worker: one stream for all tabs. Who comes later gets what is known already.
import { load } from "./notices.js";

const ports = new Set();
const known = new Map();
const pages = new Map(); // asked for, and not changed since: tabs that show the same page share one answer
let live = false;
let later = false;

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function open() {
  const source = new EventSource("/api/stream");
  source.onopen = () => {
    live = true;
    tell({ live });
  };
  source.onerror = () => {
    live = false;
    tell({ live, refused: source.readyState === EventSource.CLOSED }); // there is a server, and it does not know us
    if (source.readyState === EventSource.CLOSED) setTimeout(open, 2000);
  };
  source.addEventListener("changes", (event) => {
    const notices = JSON.parse(event.data);
    pages.clear();
    for (const notice of notices) known.set(`${notice.topic} ${notice.id}`, notice);
    tell({ notices, later });
    later = true;
  });
}

async function share(port, address) {
  const asked = pages.get(address) ?? load(address);
  pages.set(address, asked);
  port.postMessage({ page: await asked });
  if (pages.get(address) === asked) pages.delete(address);
}

self.onconnect = ({ ports: [port] }) => {
  ports.add(port);
  port.onmessage = ({ data }) => (data.page ? share(port, data.page) : ports.delete(port));
  if (later) port.postMessage({ notices: [...known.values()], later: false });
  if (live) port.postMessage({ live });
};
open();
