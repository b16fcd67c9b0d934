"""TensorBoard's dashboards as a test reads them: by what the page shows.

Selectors pierce the shadow roots of TensorBoard's elements. Every wait has a limit, after which
playwright names what it waited for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

WAIT_MS = 600_000
SETTLE_MS = 500  # the animation of a click

# An element's own `innerText` stops at the shadow roots within it.
DEEP_TEXT = """(elements) => {
  const text = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (['STYLE', 'SCRIPT', 'TEMPLATE'].includes(node.tagName)) return '';
    return [node.shadowRoot, ...node.childNodes].map((n) => (n ? text(n) : '')).join(' ');
  };
  return elements.map(text);
}"""


class Pages:
    """One browser page, with what it asked of the network and what its scripts threw."""

    def __init__(self, browser: Any, url: str, artefacts: Path) -> None:
        self.url = url
        self.requests: list[str] = []
        self.script_errors: list[str] = []
        self._artefacts = artefacts
        self._context = browser.new_context(viewport={"width": 1500, "height": 1000})
        self._context.set_default_timeout(WAIT_MS)
        self.page = self._context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.script_errors.append(str(error)))

    def open(self, dashboard: str, ready: str) -> None:
        """Goes to a dashboard and waits for the first element that `ready` selects."""
        self.page.goto(f"{self.url}#{dashboard}")
        self.wait_for_count(ready, 1)

    def wait_for_count(self, selector: str, count: int) -> None:
        """Waits until there are `count` such elements; a flat curve counts, which has no area."""
        self.page.locator(selector).nth(count - 1).wait_for(state="attached")

    def texts(self, selector: str) -> list[str]:
        """The text of each such element and of what is within it, on one line."""
        found = self.page.locator(selector).evaluate_all(DEEP_TEXT)
        return [" ".join(text.split()) for text in found]

    def attributes(self, selector: str, name: str) -> list[str]:
        """One attribute of each such element, "" where it has none."""
        found: list[str] = self.page.locator(selector).evaluate_all(
            "(elements, name) => elements.map(e => e.getAttribute(name) || '')", name
        )
        return found

    def foreign_requests(self) -> list[str]:
        """The requests that went anywhere else than to this TensorBoard."""
        local = (self.url, "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(local)]

    def picture(self, name: str) -> None:
        """Keeps a screenshot."""
        self.page.wait_for_timeout(SETTLE_MS)
        self._artefacts.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(self._artefacts / f"{name}.png"))

    def close(self) -> None:
        self._context.close()
