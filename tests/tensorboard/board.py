"""The real ``tensorboard`` command on a folder, and a headless Chromium that looks at it.

State: one TensorBoard process a `Board`, ended by its own id; one browser a `chromium` block.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
START_SECONDS = 600


def find_chromium() -> str | None:
    """The system's Chromium or Chrome, if it has one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


class Board:
    """TensorBoard serving `logdir` on a free port of the loopback interface."""

    def __init__(self, logdir: Path) -> None:
        command = Path(sys.executable).with_name("tensorboard")
        # The slower of its two loaders: part of the package itself, and it reads as it is asked.
        args = ["--logdir", logdir, "--host", "127.0.0.1", "--port", "0", "--load_fast", "false"]
        self._process = subprocess.Popen(
            [str(a) for a in (command, *args, "--reload_interval", "2")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self.url = self._read_url()
        except BaseException:
            self.close()
            raise

    def _read_url(self) -> str:
        """The address that it says it listens on; what it prints later is read and dropped."""
        assert self._process.stderr is not None
        watchdog = threading.Timer(START_SECONDS, self._process.kill)
        watchdog.start()
        said = ""
        for line in self._process.stderr:
            said += line
            if found := re.search(r"http://[\w.]+:\d+/", line):
                watchdog.cancel()
                threading.Thread(target=self._process.stderr.read, daemon=True).start()
                return found[0]
        watchdog.cancel()
        raise RuntimeError(f"tensorboard did not start in {START_SECONDS} s; it said:\n{said}")

    def get(self, path: str, **query: str) -> bytes:
        """The body of a GET of ``data/PATH``."""
        url = f"{self.url}data/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=600) as response:
            body: bytes = response.read()
        return body

    def json(self, path: str, **query: str) -> Any:
        """The same, parsed."""
        return json.loads(self.get(path, **query))

    def close(self) -> None:
        """Ends the process and waits for it."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


@contextlib.contextmanager
def chromium(executable: str) -> Iterator[Any]:
    """A headless browser, as a playwright ``Browser``."""
    from playwright.sync_api import sync_playwright

    # Software WebGL is what the projector draws with where there is no GPU.
    args = [
        "--no-sandbox",
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=args)
        try:
            yield browser
        finally:
            browser.close()
