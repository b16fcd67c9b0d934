"""``extract_pandas_*`` and ``extract_dask_*``: the numbers of data frames.

Neither library is imported: whoever has a frame has imported it.  Anything that is no frame is
handed back as it came.
"""

from __future__ import annotations

import sys
from typing import Any

_KINDS = "biuf"  # of NumPy's dtypes: bool, integers, floating point


def _is_frame(data: Any, library: str = "pandas", kinds: tuple[str, ...] = ("DataFrame",)) -> bool:
    loaded = sys.modules.get(library)
    return loaded is not None and isinstance(data, tuple(getattr(loaded, k) for k in kinds))


def extract_pandas_data(data: Any) -> Any:
    """The columns of a data frame as a float64 array [rows, columns].

    Args:
      data: a ``pandas.DataFrame``; anything else is returned.

    Raises:
      ValueError: a column holds neither integers, floats nor bools.
    """
    if not _is_frame(data):
        return data
    others = [(name, kind) for name, kind in data.dtypes.items() if kind.kind not in _KINDS]
    if others:
        listed = ", ".join(f"'{name}' type='{kind}'" for name, kind in others)
        raise ValueError(
            f"Data types for extracting pandas data must be int, float, or bool. Found: {listed}"
        )
    return data.values.astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """The values of a data frame as an array, whatever they are; anything else is returned."""
    return data.values if _is_frame(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """The only column of a data frame as an array [rows, 1] of the type it has.

    Args:
      labels: a ``pandas.DataFrame``; anything else is returned.

    Raises:
      ValueError: there are several columns, or it holds neither integers, floats nor bools.
    """
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    others = [(name, kind) for name, kind in labels.dtypes.items() if kind.kind not in _KINDS]
    if others:
        listed = ", ".join(f"'{name}' type={kind}" for name, kind in others)
        raise ValueError(
            f"Data types for extracting labels must be int, float, or bool. Found: {listed}"
        )
    return labels.values


def extract_dask_data(data: Any) -> Any:
    """A Dask frame or series whose index goes on from one partition to the next.

    Args:
      data: a ``dask.dataframe`` ``DataFrame`` or ``Series``; anything else is returned.
    """
    if not _is_frame(data, "dask.dataframe", ("DataFrame", "Series")):
        return data
    return _numbered(data)


def extract_dask_labels(labels: Any) -> Any:
    """As ``extract_dask_data``, of a series or a frame of one column.

    Raises:
      ValueError: there are several columns.
    """
    if not _is_frame(labels, "dask.dataframe", ("DataFrame", "Series")):
        return labels
    if len(getattr(labels, "columns", ())) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return _numbered(labels)


def _numbered(frame: Any) -> Any:
    """The frame with rows numbered from 0 in the order of its partitions."""
    sizes = frame.map_partitions(len).compute()
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    parts = [
        frame.get_partition(number).map_partitions(_renumber, start, meta=frame)
        for number, start in enumerate(starts)
    ]
    return sys.modules["dask.dataframe"].concat(parts)


def _renumber(part: Any, start: int) -> Any:
    part = part.copy()
    part.index = range(start, start + len(part))
    return part
