"""``tf.contrib.learn.preprocessing``: expected values are those of TensorFlow 1.15."""

from __future__ import annotations

import base64
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import penstock as tf

learn = tf.contrib.learn.preprocessing
# What TensorFlow 1.15 wrote of a processor of two words a row that had seen "the cat the".
THEIRS = base64.b64decode(
    "gANjdGVuc29yZmxvdy5jb250cmliLmxlYXJuLnB5dGhvbi5sZWFybi5wcmVwcm9jZXNzaW5nLnRleHQKVm9jYWJ1"
    "bGFyeVByb2Nlc3NvcgpxACmBcQF9cQIoWBMAAABtYXhfZG9jdW1lbnRfbGVuZ3RocQNLAlgNAAAAbWluX2ZyZXF1"
    "ZW5jeXEESwBYCwAAAHZvY2FidWxhcnlfcQVjdGVuc29yZmxvdy5jb250cmliLmxlYXJuLnB5dGhvbi5sZWFybi5w"
    "cmVwcm9jZXNzaW5nLmNhdGVnb3JpY2FsX3ZvY2FidWxhcnkKQ2F0ZWdvcmljYWxWb2NhYnVsYXJ5CnEGKYFxB31x"
    "CChYDgAAAF91bmtub3duX3Rva2VucQlYBQAAADxVTks+cQpYCAAAAF9tYXBwaW5ncQt9cQwoaApLAFgDAAAAdGhl"
    "cQ1LAVgDAAAAY2F0cQ5LAnVYEAAAAF9zdXBwb3J0X3JldmVyc2VxD4hYEAAAAF9yZXZlcnNlX21hcHBpbmdxEF1x"
    "EShoCmgNaA5lWAUAAABfZnJlcXESY2NvbGxlY3Rpb25zCmRlZmF1bHRkaWN0CnETY2J1aWx0aW5zCmludApxFIVx"
    "FVJxFihoDUsCaA5LAXVYBwAAAF9mcmVlemVxF4h1YlgKAAAAX3Rva2VuaXplcnEYY3RlbnNvcmZsb3cuY29udHJp"
    "Yi5sZWFybi5weXRob24ubGVhcm4ucHJlcHJvY2Vzc2luZy50ZXh0CnRva2VuaXplcgpxGXViLg=="
)


def test_bytes() -> None:
    processor = learn.ByteProcessor(5)
    rows = list(processor.transform(["café au lait", "ab", ""]))
    assert [r.tolist() for r in rows] == [[99, 97, 102, 195, 169], [97, 98, 0, 0, 0], [0] * 5]
    assert {r.dtype for r in rows} == {np.dtype(np.uint8)}
    given = [[99, 97, 0, 0, 0], [195, 0, 0], [97, 0, 98]]
    assert list(processor.reverse(np.array(g, np.uint8) for g in given)) == ["ca", "", "a\0b"]


def test_categories_get_numbers_and_lose_them() -> None:
    vocabulary = learn.CategoricalVocabulary()
    for word in "b a b c a b d".split():
        vocabulary.add(word)
    assert [vocabulary.get(w) for w in ("b", "a", "zz", "<UNK>")] == [1, 2, 5, 0]
    vocabulary.trim(1)
    assert [vocabulary.reverse(i) for i in range(len(vocabulary))] == ["<UNK>", "b", "a"]
    vocabulary.freeze()
    assert vocabulary.get("new") == 0 and len(vocabulary) == 3
    vocabulary.freeze(False)
    assert vocabulary.get("new") == 3


def test_frequent_categories_are_dropped() -> None:
    vocabulary = learn.CategoricalVocabulary("?", support_reverse=False)
    vocabulary.add(3)
    vocabulary.add("x", 3)
    vocabulary.trim(0, 3)
    assert (len(vocabulary), vocabulary.get("x"), vocabulary.get(3)) == (2, 2, 1)
    with pytest.raises(ValueError, match="wasn't initialized with support_reverse"):
        vocabulary.reverse(0)


def test_columns_of_categories() -> None:
    x = np.array([["a", 1], ["b", float("nan")], ["a", 1]], object)
    apart = learn.CategoricalProcessor(min_frequency=1)
    assert [row.tolist() for row in apart.fit_transform(x)] == [[1, 1], [0, 0], [1, 1]]
    assert [len(v) for v in apart.vocabularies_] == [2, 2]
    shared = learn.CategoricalProcessor(share=True)
    assert [row.tolist() for row in shared.fit_transform(x)] == [[1, 2], [3, 0], [1, 2]]


def test_words_get_numbers(tmp_path: Path) -> None:
    processor = learn.VocabularyProcessor(3, min_frequency=1)
    rows = list(processor.fit_transform(["the cat isn't THEREish", "the Cat-sat the"]))
    assert [row.tolist() for row in rows] == [[1, 0, 0], [1, 0, 1]]
    assert rows[0].dtype == np.int64
    assert list(processor.reverse([[1, 0, 1]])) == ["the <UNK> the"]
    processor.save(str(tmp_path / "v"))
    again = learn.VocabularyProcessor.restore(str(tmp_path / "v"))
    assert [row.tolist() for row in again.transform(["cat the"])] == [[0, 1, 0]]


def test_what_was_learned_goes_on_after_a_file(tmp_path: Path) -> None:
    processor = learn.VocabularyProcessor(2)
    processor.fit(["one two two"])
    processor.save(str(tmp_path / "v"))
    again = learn.VocabularyProcessor.restore(str(tmp_path / "v"))
    again.vocabulary_.freeze(False)
    again.fit(["three"])
    again.vocabulary_.trim(1)
    assert [again.vocabulary_.get(word) for word in ("one", "two", "three")] == [0, 1, 0]


def test_a_file_of_tensorflow_is_read(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(THEIRS)
    processor = learn.VocabularyProcessor.restore(str(tmp_path / "v"))
    assert [row.tolist() for row in processor.transform(["cat, the dog"])] == [[2, 1]]


class _Attack:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("attacked",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(_Attack()), b"", b"no pickle", THEIRS[:-20],
        b"cbuiltins\neval\n(X\x01\x00\x00\x001tR.", b"c__main__\nos.mkdir\n(X\x01\x00\x00\x00xtR.",
    ],
)  # fmt: skip
def test_other_files_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="not the file of a VocabularyProcessor"):
        learn.VocabularyProcessor.restore(str(tmp_path / "v"))
    assert [p.name for p in tmp_path.iterdir()] == ["v"]


def test_no_file() -> None:
    with pytest.raises(tf.errors.NotFoundError):
        learn.VocabularyProcessor.restore("/nowhere/v")
