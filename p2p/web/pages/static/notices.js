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

export function listen(hear) {
  if (!("SharedWorker" in window)) return ownStream(hear);
  const worker = new SharedWorker(new URL("./hub.js", import.meta.url), { name: "p2p" });
  worker.port.onmessage = (event) => hear(event.data);
  addEventListener("pagehide", () => worker.port.postMessage("bye"));
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
