"""The demo's logs in TensorBoard itself, looked at in a headless browser."""

from __future__ import annotations

import re

import pytest

from tests.tensorboard.pages import Pages

pytestmark = pytest.mark.long

SCOPES = {"conv1", "conv2", "hidden", "dropout", "logits", "loss", "accuracy", "train"}
WEIGHTS = {
    f"weights/{layer}/{part}"
    for layer in ("conv1", "conv2", "hidden", "logits")
    for part in ("kernel", "bias")
}
ACTIVATIONS = {f"activations/{layer}" for layer in ("conv1", "conv2", "hidden", "logits")}


@pytest.fixture(autouse=True)
def offline_and_sound(pages: Pages):
    """No dashboard needs anything but this TensorBoard, and no script of it fails."""
    yield
    assert pages.foreign_requests() == []
    assert pages.script_errors == []


def test_scalars(pages: Pages) -> None:
    pages.open("scalars", "tf-scalar-card path.line")
    pages.wait_for_count("tf-scalar-card path.line", 8)
    accuracy, loss = pages.texts("tf-scalar-card tf-card-heading")
    assert "progress/accuracy" in accuracy and "progress/loss" in loss
    (runs,) = pages.texts("tf-runs-selector tf-multi-checkbox")
    assert {"train", "test"} <= set(runs.split())
    # Each card draws each run's curve, and its smoothed one: paths with points in them.
    drawn = [d for d in pages.attributes("tf-scalar-card path.line", "d") if "L" in d]
    assert len(drawn) == 8
    assert "NaN" not in "".join(drawn)


def test_images(pages: Pages) -> None:
    pages.open("images", "tf-image-loader img")
    pages.wait_for_count("tf-image-loader img", 7)  # six learned, at least one mistaken
    pages.page.wait_for_function(LOADED_IMAGES + " >= 7")
    sizes = pages.page.evaluate(f"() => {IMAGES}.map(i => [i.naturalWidth, i.naturalHeight])")
    assert len(sizes) >= 7 and all(size == [8, 8] for size in sizes), sizes
    headings = " ".join(pages.texts("tf-image-loader tf-card-heading"))
    assert "digits/learned/image/0" in headings and "digits/mistaken/image/0" in headings


# Playwright's piercing selectors end at the page's own scripts, so these walk the shadow roots.
IMAGES = """((root) => {
  const found = [];
  const walk = (r) => r.querySelectorAll('*').forEach((e) => {
    if (e.tagName === 'IMG' && e.getRootNode().host?.tagName === 'TF-IMAGE-LOADER') found.push(e);
    if (e.shadowRoot) walk(e.shadowRoot);
  });
  walk(root);
  return found;
})(document)"""
LOADED_IMAGES = f"{IMAGES}.filter(i => i.complete && i.naturalWidth > 0).length"


@pytest.mark.parametrize(
    ("dashboard", "card", "drawn"),
    [
        ("histograms", "tf-histogram-loader", "path.outline"),
        ("distributions", "tf-distribution-loader", "path.area"),
    ],
    ids=["histograms", "distributions"],
)
def test_tensors(pages: Pages, dashboard: str, card: str, drawn: str) -> None:
    pages.open(dashboard, f"{card} {drawn}")
    pages.wait_for_count(card, len(ACTIVATIONS | WEIGHTS))
    headings = " ".join(pages.texts(f"{card} tf-card-heading"))
    assert all(tag in headings for tag in ACTIVATIONS | WEIGHTS), headings
    paths = pages.attributes(f"{card} {drawn}", "d")
    assert len([d for d in paths if "L" in d]) >= len(ACTIVATIONS)
    assert "NaN" not in "".join(paths)


def test_text(pages: Pages) -> None:
    pages.open("text", "tf-text-loader table td")
    cells = pages.texts("tf-text-loader table td")
    rows = dict(zip(cells[::2], cells[1::2]))
    assert rows["batch size"] == "64"
    assert rows["learning rate"] == "0.001"


def test_graph(pages: Pages) -> None:
    """The name scopes are the boxes of the graph; coloured by device, the legend has names."""
    pages.open("graphs", "g.node.meta")
    pages.wait_for_count("g.node.meta", len(SCOPES))
    assert set(pages.attributes("g.node.meta", "data-name")) >= SCOPES
    pages.page.locator("paper-radio-button", has_text="Device").click()
    legend = pages.page.locator("tf-graph-controls .legend-holder, tf-graph-controls .legend")
    legend.get_by_text("CPU:0").first.wait_for()
    legend.get_by_text("GPU:0").first.wait_for()
    pages.page.locator("paper-radio-button[checked]", has_text="Device").wait_for()
    # A box is filled by a gradient, a stop a device within it.
    fills = {
        scope: set(pages.attributes(f"linearGradient#device-{scope} stop", "stop-color"))
        for scope in ("conv1", "logits", "accuracy", "digits")
    }
    assert fills["conv1"] == fills["logits"] != fills["accuracy"] == fills["digits"], fills
    assert len(fills["conv1"]) == 1


@pytest.mark.parametrize("colouring", ["Compute time", "Memory"])
def test_run_metadata(pages: Pages, colouring: str) -> None:
    """The traced step's tag brings each node's time and memory."""
    pages.open("graphs", "g.node.meta")
    pages.page.locator("paper-dropdown-menu.run-dropdown").nth(1).click()
    pages.page.locator("paper-item", has_text="step 100").click()
    choice = pages.page.locator("paper-radio-button:not([disabled])", has_text=colouring)
    choice.click()
    pages.page.get_by_text("Devices included in stats:").wait_for()
    pages.page.locator("g.node.meta[data-name=conv1] > g.nodeshape > rect").first.click()
    info = pages.page.locator("tf-node-info", has_text="Node Stats")
    info.wait_for()
    (text,) = pages.texts("tf-node-info")
    assert "conv1" in text
    memory = re.search(r"Memory ([\d.]+) (B|KB|MB)", text)
    seconds = re.search(r"Compute Time ([\d.]+) (μs|µs|ms|s)", text)
    assert memory and float(memory[1]) > 0, text
    assert seconds and float(seconds[1]) > 0, text


def test_projector(pages: Pages) -> None:
    pages.open("projector", "iframe")
    projector = pages.page.frame_locator("iframe").frame_locator("iframe")
    projector.get_by_text("Points: 360").first.wait_for()
    projector.get_by_text("Dimension: 128").first.wait_for()
    projector.get_by_text(re.compile(r"Total variance described: [1-9]")).first.wait_for()
    for part in ("tensor", "metadata", "sprite_image"):
        assert any(f"plugin/projector/{part}?" in url for url in pages.requests), part
