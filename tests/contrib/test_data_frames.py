"""``extract_pandas_*`` and ``extract_dask_*`` of ``tf.contrib.learn``.

Neither library is needed: what is asked of a frame is asked of a class in its module's place.  Of
pandas, the answers and errors are those of TensorFlow 1.15 with real frames.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from penstock.contrib import learn, slim


class _Frame:
    """As much of ``pandas.DataFrame`` as is asked for."""

    def __init__(self, **columns: Any) -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
        self.columns = list(columns)
        self.dtypes = {name: column.dtype for name, column in self._columns.items()}

    @property
    def values(self) -> np.ndarray:
        return np.stack(list(self._columns.values()), 1)


@pytest.fixture(autouse=True)
def _pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("pandas")
    module.DataFrame = _Frame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", module)


def test_the_numbers_of_a_frame() -> None:
    frame = _Frame(a=[1, 2], b=[1.5, 2.5], c=[True, False])
    found = learn.extract_pandas_data(frame)
    assert found.dtype == np.float64 and found.tolist() == [[1.0, 1.5, 1.0], [2.0, 2.5, 0.0]]
    assert learn.extract_pandas_matrix(_Frame(s=["x", "y"])).tolist() == [["x"], ["y"]]
    with pytest.raises(ValueError, match="must be int, float, or bool. Found: 's' type='<U1'"):
        learn.extract_pandas_data(_Frame(a=[1], s=["x"]))


def test_labels_are_one_column() -> None:
    found = learn.extract_pandas_labels(_Frame(a=np.array([1, 2], np.int8)))
    assert found.dtype == np.int8 and found.tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="Only one column for labels is allowed."):
        learn.extract_pandas_labels(_Frame(a=[1], b=[2]))
    with pytest.raises(ValueError, match="extracting labels must be int, float, or bool"):
        learn.extract_pandas_labels(_Frame(s=["x"]))


@pytest.mark.parametrize(
    "name",
    [
        "extract_pandas_data", "extract_pandas_labels", "extract_pandas_matrix",
        "extract_dask_data", "extract_dask_labels",
    ],
)  # fmt: skip
def test_what_is_no_frame_is_handed_back(name: str) -> None:
    for given in (np.arange(3), [1, 2], "text"):
        assert getattr(learn, name)(given) is given


class _Part:
    def __init__(self, rows: list[int]) -> None:
        self.rows, self.index = rows, list(range(len(rows)))

    def __len__(self) -> int:
        return len(self.rows)

    def copy(self) -> _Part:
        return _Part(self.rows)


class _Parts:
    """As much of ``dask.dataframe.DataFrame`` as is asked for."""

    def __init__(self, parts: list[Any], columns: tuple[str, ...] = ("a",)) -> None:
        self.parts, self.columns = parts, columns

    def map_partitions(self, function: Any, *args: Any, meta: Any = None) -> _Parts:
        return _Parts([function(part, *args) for part in self.parts])

    def compute(self) -> list[Any]:
        return self.parts

    def get_partition(self, number: int) -> _Parts:
        return _Parts([self.parts[number]])


def test_a_dask_frame_is_numbered_through(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("dask.dataframe")
    module.DataFrame = _Parts  # type: ignore[attr-defined]
    module.Series = _Parts  # type: ignore[attr-defined]
    module.concat = lambda found: _Parts([p for f in found for p in f.parts])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask.dataframe", module)
    frame = _Parts([_Part([5, 6, 7]), _Part([8]), _Part([9, 10])])
    for extract in (learn.extract_dask_data, learn.extract_dask_labels):
        assert [list(p.index) for p in extract(frame).parts] == [[0, 1, 2], [3], [4, 5]]
    with pytest.raises(ValueError, match="Only one column for labels is allowed."):
        learn.extract_dask_labels(_Parts([], ("a", "b")))


def test_a_column_of_a_frame_builds_its_tensor() -> None:
    class Series:
        def build(self, tensors: dict[Any, Any]) -> list[str]:
            return sorted(tensors)

    tensors: dict[Any, Any] = {"b": 2}
    column = slim.DataFrameColumn("age", Series())
    column.insert_transformed_feature(tensors)
    assert tensors[column] == ["b"]
