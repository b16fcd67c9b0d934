"""What a page of metrics says, read as Prometheus reads it."""

from __future__ import annotations

import re
import urllib.error
import urllib.request

_SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')
_LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parsed(text: str) -> Series:
    """Values by name and labels; fails where a line is malformed, or a series is there twice."""
    kinds: dict[str, str] = {}
    series: Series = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name not in kinds and kind in ("counter", "gauge", "histogram")
            kinds[name] = kind
            continue
        found = _SAMPLE.fullmatch(line)
        assert found, line
        name, labels, value = found.groups()
        family = re.sub("_(bucket|sum|count)$", "", name)
        assert kinds.get(name) or kinds.get(family) == "histogram", line
        key = name, tuple(_LABEL.findall(labels or ""))
        assert key not in series, line
        series[key] = float(value)
    return series


class Page:
    """A page at an address "host:port"."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get(self, path: str, method: str = "GET") -> tuple[int, str]:
        """Status and text; an OSError if nobody listens."""
        request = urllib.request.Request(f"http://{self.address}{path}", method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60.0) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def value(self, name: str, **labels: str) -> float:
        """The sum of a metric's series that have these labels."""
        status, text = self.get("/metrics")
        assert status == 200, text
        wanted = set(labels.items())
        found = [v for (n, ls), v in parsed(text).items() if n == name and wanted <= set(ls)]
        assert found, f"{name} {labels}\n{text}"
        return sum(found)
