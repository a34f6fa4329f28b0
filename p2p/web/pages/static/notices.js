// Notices of what changed, over one connection for all tabs: a browser opens at most six to a server of HTTP/1.1.
function ownStream(hear) {
  // no SharedWorker here: a stream of its own while the page is visible
  let source = null;
  const open = () => {
    if (document.hidden || source) return;
    let later = false;
    source = new EventSource("/api/stream");
    source.onopen = () => hear({ live: true });
    source.onerror = () => hear({ live: false, refused: source.readyState === EventSource.CLOSED });
    source.addEventListener("changes", (event) => {
      hear({ notices: JSON.parse(event.data), later });
      later = true;
    });
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}

// A page as the server has it now; null where it gives none: the bar says so.
export async function load(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" }, cache: "no-cache" });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

// Has `hear` called with each message; returns what loads a page, once for all tabs that ask for the same.
export function listen(hear) {
  if (!("SharedWorker" in window)) {
    ownStream(hear);
    return load;
  }
  const worker = new SharedWorker(new URL("./hub.js", import.meta.url), { name: "p2p", type: "module" });
  let loaded = null;
  worker.port.onmessage = ({ data }) => (data.page === undefined ? hear(data) : loaded?.(data.page));
  addEventListener("pagehide", () => worker.port.postMessage("bye"));
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  return (address) =>
    new Promise((done) => {
      loaded = done;
      worker.port.postMessage({ page: address });
    });
}
