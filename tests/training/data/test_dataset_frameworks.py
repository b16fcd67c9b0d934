"""Data of other libraries as datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


def elements(dataset: Any, passes: int = 1) -> list[Any]:
    element = dataset.repeat(passes).make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while len(found) < 100:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found
    raise AssertionError("no end")


def test_torch_loader() -> None:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    pairs = TensorDataset(torch.arange(5.0), torch.arange(5) * 2)
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_torch(DataLoader(pairs, batch_size=2))
        assert dataset.output_types == (tf.float32, tf.int64)
        assert [s.as_list() for s in dataset.output_shapes] == [[None], [None]]
        found = elements(dataset, passes=2)
    assert [x.tolist() for x, _ in found] == [[0, 1], [2, 3], [4]] * 2
    assert [y.tolist() for _, y in found] == [[0, 2], [4, 6], [8]] * 2


def test_torch_loader_of_dicts_and_an_empty_one() -> None:
    with tf.Graph().as_default():
        loader = [{"text": ["a", "b"], "number": np.float32(1)}]
        assert elements(tf.data.Dataset.from_torch(loader))[0]["text"].tolist() == [b"a", b"b"]
        with pytest.raises(ValueError, match="no element"):
            tf.data.Dataset.from_torch([])


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2], "name": ["a", "ü"]})
    with tf.Graph().as_default():
        found = elements(tf.data.Dataset.from_pandas(frame))
    assert found == [{"name": b"a", "x": 1}, {"name": "ü".encode(), "x": 2}]


def test_arrow() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"x": [1.5, 2.5], "name": ["a", "b"]})
    with tf.Graph().as_default():
        found = elements(tf.data.Dataset.from_arrow(table))
        assert found == [{"name": b"a", "x": 1.5}, {"name": b"b", "x": 2.5}]
        with pytest.raises(ValueError, match="null"):
            tf.data.Dataset.from_arrow(arrow.table({"x": [None, 1]}))


def test_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"ids": [[1], [2, 3]], "text": ["a", "b"]})
    with tf.Graph().as_default():
        found = elements(tf.data.Dataset.from_huggingface(rows))
    assert [r["ids"].tolist() for r in found] == [[1], [2, 3]]
    assert [r["text"] for r in found] == [b"a", b"b"]


def test_rows_as_hugging_face_gives_them() -> None:
    """The same without the library: an iterable of dicts."""
    with tf.Graph().as_default():
        rows = [{"ids": [1], "text": "a"}, {"ids": [2, 3], "text": "b"}]
        found = elements(tf.data.Dataset.from_huggingface(rows))
    assert [r["ids"].tolist() for r in found] == [[1], [2, 3]]
    assert [r["text"] for r in found] == [b"a", b"b"]
