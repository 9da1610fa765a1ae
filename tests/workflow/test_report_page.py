"""The page of `snakemake --report` in a real browser: it renders, without errors, with every table and figure."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pascal.pipeline.manifest import outputs
from tests.workflow.browser import needs_browser, rendered
from tests.workflow.workspace import Workspace

pytestmark = [pytest.mark.slow, needs_browser]

# What goes wrong while the page loads and while a reader opens one result after the other.
_WATCH = """<script>
var wrong = [];
window.addEventListener("error", event => wrong.push(event.message || "cannot load " + event.target.tagName), true);
window.addEventListener("unhandledrejection", event => wrong.push(String(event.reason)));
console.error = (...words) => wrong.push(words.join(" "));
</script>"""

# Opens the description of each result and presses its eye button: figures and tables are shown in the page.
_READ = """<script>
const moment = () => new Promise(done => setTimeout(done, 100));
const decode = text => new TextDecoder().decode(Uint8Array.from(atob(text), letter => letter.charCodeAt(0)));
async function look(path) {
    app.showResultInfo(path);
    await moment();
    const caption = document.querySelector("#app").innerText;
    const button = document.querySelector("#app a[iconname=eye]");
    button.click();
    await moment();
    const frame = document.querySelector("#app iframe");
    if (frame) return {caption, text: decode(frame.src.split("base64,")[1])};
    const image = document.querySelector(`#app img[src="${results[path].data_uri}"]`);
    while (!image.complete) await moment();
    return {caption, width: image.naturalWidth, height: image.naturalHeight};
}
(async () => {
    const seen = {};
    await moment();
    const menu = document.querySelector("#app")?.innerText;
    for (const path of Object.keys(window.results ?? {})) {
        await look(path).then(shown => seen[path] = shown, error => wrong.push(path + ": " + error));
    }
    const note = document.createElement("pre");
    note.id = "seen";
    note.textContent = JSON.stringify({menu, seen, wrong});
    document.body.append(note);
})();
</script>"""


def _open(page: Path) -> dict[str, Any]:
    """Visit a copy of a page that watches itself; gives its menu, what each result showed, and what went wrong."""
    watched = page.with_name("watched.html")
    before, end, after = page.read_text().replace("<head>", f"<head>{_WATCH}", 1).rpartition("</body>")
    watched.write_text(before + _READ + end + after)
    note = re.search(r'<pre id="seen">(.*?)</pre>', rendered(watched.as_uri()), re.DOTALL)
    assert note, "the page's scripts did not come to their end"
    return json.loads(html.unescape(note[1]))


def test_the_page_shows_every_table_and_figure(workspace: Workspace) -> None:
    workspace.run("snakemake", "--report", "report.html").check()
    assert not re.search(r"<(script|link|img)[^>]*https?:", (workspace.path / "report.html").read_text()), (
        "works offline"
    )
    page = _open(workspace.path / "report.html")
    assert page["wrong"] == []
    assert all(
        word in page["menu"]
        for word in ("Tables", "All runs", "Runs", "converted exactly", "What was run", "exact: 0 of")
    )
    tables = {f"{stem}.html": plan.caption for stem, plan in outputs("tables").items()}
    plain, adaptive = outputs("figures", "plain", "uniform"), outputs("figures", "adaptive", "derived")
    figures = {f"{stem}.png": plan.caption for stem, plan in (outputs("figures") | plain | adaptive).items()}
    assert page["seen"].keys() == tables.keys() | figures.keys()
    for path, caption in (tables | figures).items():
        assert caption in page["seen"][path]["caption"], path
    for path in tables:
        assert page["seen"][path]["text"] == (workspace.path / path).read_text()
    for path in figures:
        assert min(page["seen"][path]["width"], page["seen"][path]["height"]) >= 200, path


@pytest.mark.parametrize("fault", ["<script>no_such_name()</script>", '<img src="no-such-file.png">'])
def test_the_browser_tells_what_goes_wrong(tmp_path: Path, fault: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f'<html><head></head><body><div id="app"></div>{fault}</body></html>')
    assert len(_open(page)["wrong"]) == 1
