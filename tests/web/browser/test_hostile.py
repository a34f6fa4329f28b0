"""What hostile sites and hostile texts get: nothing."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from asking import EXAMPLES
from browsing import Filming, Site
from test_pages import HOSTILE, spoilt

SESSION = EXAMPLES["session_id"]
ELSEWHERE = "<!doctype html><title>elsewhere</title><body>"
TRY_EVERYTHING = """async ([ours, session]) => {
  const tried = {};
  const loads = (element, good, address) => new Promise((done) => {
    element.addEventListener(good, () => done("got"));
    element.addEventListener("error", () => done("refused"));
    element.src = address;
    document.body.append(element);
  });
  const asks = (address, options) => fetch(address, options).then((found) => found.text()).then(
    (text) => (text ? "got" : "empty"), () => "refused");
  const api = `${ours}/api/sessions/${session}`;
  const cookies = { credentials: "include" };
  tried.fetch = await asks(api, cookies);
  tried.fetchOpaque = await asks(api, { ...cookies, mode: "no-cors" });
  tried.remove = await asks(api, { ...cookies, method: "DELETE" });
  tried.post = await asks(`${ours}/e2e/${session}/star`, {
    ...cookies, mode: "no-cors", method: "POST", body: new URLSearchParams({ starred: "true" }) });
  tried.image = await loads(new Image(), "load", `${api}/iterations/1/pictures/contact_sheet.jpg`);
  tried.video = await loads(document.createElement("video"), "loadeddata", `${api}/iterations/1/videos/median.mp4`);
  tried.script = await loads(document.createElement("script"), "load", `${ours}/static/0/page.js`);
  const stream = new EventSource(`${ours}/api/stream`, { withCredentials: true });
  tried.stream = await new Promise((done) => {
    stream.onopen = () => done("got");
    stream.onerror = () => done("refused");
  });
  const frame = document.createElement("iframe");
  frame.name = "target";
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: `${ours}/e2e/${session}/delete`, target: "target" });
  document.body.append(form);
  const answered = new Promise((done) => frame.addEventListener("load", done, { once: true }));
  form.submit();
  await answered;
  return tried;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing is said of requests."""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """Another site on another port of this machine; its address."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "index.html").write_text(ELSEWHERE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_page_on_another_port_gets_nothing_and_changes_nothing(
    site: Callable[[Path], Site], filming: Filming, elsewhere: str
) -> None:
    here = site(filming("HalfCheetah-v5").runs_dir)
    page = here.open("/e2e")  # this browser is let in
    page.goto(elsewhere)
    tried = page.evaluate(TRY_EVERYTHING, [here.address(""), SESSION])
    assert len(tried) == 8
    assert set(tried.values()) == {"refused"}, tried
    told = here.problems.copy()
    here.problems.clear()
    assert told, "the browser says what it refused"
    page.goto(here.address("/e2e"))
    assert page.locator(f"#{SESSION}").count() == 1
    assert page.locator("button[aria-pressed=true]").count() == 0


def test_hostile_texts_run_nothing_and_leave_every_page_in_its_shape(
    site: Callable[[Path], Site], seeded: Path
) -> None:
    folder = seeded / SESSION
    for path in [folder / "session.json", folder / "lineage.json", *folder.glob("iter_*/judgment.json")]:
        path.write_text(json.dumps(spoilt(json.loads(path.read_text()))))
    log = folder / "events.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps({**line, "data": {HOSTILE[:200]: HOSTILE}}) + "\n" for line in lines))
    here = site(seeded)
    page = here.open("/e2e")
    page.on("dialog", lambda dialog: here.problems.append(f"a dialog: {dialog.message}"))
    addresses = ("/e2e", f"/e2e/{SESSION}", f"/e2e/{SESSION}/events/3", f"/e2e/{SESSION}/iterations/1", "/label")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for address in addresses:
            page.goto(here.address(address))
            assert page.locator("img[src=x]").count() == 0, address
            beyond = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert beyond <= 0, (address, width)
