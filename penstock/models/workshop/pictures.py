"""Pictures of results, where matplotlib is installed; otherwise a line says what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.models.workshop.training import Run


def saved(run: Run, name: str, draw: Callable[[Any, Any], None]) -> Path | None:
    """Draws a picture into the run's folder.

    Args:
      run: whose folder.
      name: the file's.
      draw: is called with a figure and its axes.

    Returns:
      The file, or None where matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        run.say(f"no picture {name}: it takes matplotlib, pip install 'penstock[workshop]'")
        return None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure, figure.subplots())
    path = run.logdir / name
    figure.savefig(path, dpi=120)
    run.say(f"picture:     {path}")
    return path


def curves(run: Run, name: str, lines: Mapping[str, Sequence[float]], x: str, y: str) -> None:
    """A picture of some curves over 1, 2, ..."""

    def draw(figure: Any, axes: Any) -> None:
        for label, values in lines.items():
            axes.plot(range(1, len(values) + 1), values, label=label)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if len(lines) > 1:
            axes.legend()

    saved(run, name, draw)


def confusion(run: Run, name: str, counts: npt.NDArray[np.int64]) -> None:
    """A picture of how often each class was taken for each."""

    def draw(figure: Any, axes: Any) -> None:
        axes.imshow(np.log1p(counts), cmap="Blues")
        for (row, column), count in np.ndenumerate(counts):
            if count:
                dark = count > counts.max() / 4
                axes.text(column, row, str(count), ha="center", va="center", fontsize=7,
                          color="white" if dark else "black")  # fmt: skip
        axes.set_xlabel("taken for")
        axes.set_ylabel("is")
        axes.set_xticks(range(len(counts)))
        axes.set_yticks(range(len(counts)))

    saved(run, name, draw)
