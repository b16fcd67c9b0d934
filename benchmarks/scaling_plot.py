"""Plots of times against sizes, both logarithmic, as the text of one SVG file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

# By implementation, size and seconds.
Curves = Mapping[str, Mapping[int, float]]

COLORS = {"penstock": "#0072b2", "tensorflow": "#d55e00", "jax": "#009e73"}
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 380, 260, 62, 34, 44


def svg(panels: Mapping[str, Curves]) -> str:
    """Panels two a row, each under its title, with a legend in the first."""
    rows = (len(panels) + 1) // 2
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * _WIDTH}" height="{rows * _HEIGHT}"'
        ' font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for index, (title, curves) in enumerate(panels.items()):
        x, y = _WIDTH * (index % 2), _HEIGHT * (index // 2)
        lines.append(f'<g transform="translate({x},{y})">')
        lines += _panel(title, curves, legend=index == 0)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def _panel(title: str, curves: Curves, legend: bool) -> list[str]:
    sizes = sorted({size for curve in curves.values() for size in curve})
    times = [seconds for curve in curves.values() for seconds in curve.values()]
    across = _Axis(sizes[0], sizes[-1], _LEFT, _WIDTH - 20)
    decades = _decades(times)
    up = _Axis(decades[0], decades[-1], _HEIGHT - _BOTTOM, _TOP)
    lines = [f'<text x="{_LEFT}" y="20" font-size="13">{escape(title)}</text>']
    for size in sizes:
        at = across.at(size)
        lines.append(
            f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{size:,}</text>'
        )
    for decade in decades:
        at = up.at(decade)
        lines.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{duration(decade)}</text>'
        )
    for index, (name, curve) in enumerate(curves.items()):
        lines += _curve(curve, across, up, COLORS.get(name, "#666"))
        if legend:
            at = _TOP + 14 + 15 * index
            color = COLORS.get(name, "#666")
            lines.append(f'<text x="{_LEFT + 10}" y="{at}" fill="{color}">{escape(name)}</text>')
    return lines


class _Axis:
    """Where a number stands between two, on a logarithmic axis."""

    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self._low, self._span = math.log(low), math.log(high) - math.log(low)
        self._first, self._length = first, last - first

    def at(self, value: float) -> float:
        return self._first + (math.log(value) - self._low) / (self._span or 1.0) * self._length


def _curve(curve: Mapping[int, float], across: _Axis, up: _Axis, color: str) -> list[str]:
    points = [(across.at(size), up.at(curve[size])) for size in sorted(curve)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
    return [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>', *dots]


def _decades(times: Sequence[float]) -> list[float]:
    """Powers of ten around the times, two at least.

    >>> _decades([0.002, 0.03])
    [0.001, 0.01, 0.1]
    """
    first = math.floor(math.log10(min(times)))
    last = max(math.ceil(math.log10(max(times))), first + 1)
    return [float(f"1e{power}") for power in range(first, last + 1)]


def duration(seconds: float) -> str:
    """A time in its unit.

    >>> duration(1e-5), duration(0.0123), duration(2)
    ('10 us', '12.3 ms', '2 s')
    """
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit * 0.9999:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
