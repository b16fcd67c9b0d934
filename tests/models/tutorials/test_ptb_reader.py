"""The Penn Treebank's reader: numbers of words, and batches by NumPy and by a queue."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as tf
from penstock.models.tutorials import ptb_reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"train": "the cat\nthe dog\n", "valid": "a cat\n", "test": "dog dog\n"}
    for part, text in texts.items():
        (tmp_path / f"ptb.{part}.txt").write_text(text)
    return tmp_path


def test_words_are_numbered_by_frequency(folder: Path) -> None:
    # <eos> and "the" stand there twice, "cat" and "dog" once; "a" is not known.
    found = ptb_reader.ptb_raw_data(str(folder))
    assert found == ([1, 2, 0, 1, 3, 0], [2, 0], [3, 3, 0], 4)


def test_a_missing_file_says_where_it_comes_from(folder: Path) -> None:
    (folder / "ptb.test.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"put ptb.train.txt, .* of http.*simple-examples"):
        ptb_reader.ptb_raw_data(str(folder))


def test_the_queue_gives_what_the_iterator_gives() -> None:
    text = list(range(23))
    wanted = [(x.tolist(), y.tolist()) for x, y in ptb_reader.ptb_iterator(text, 3, 2)]
    assert len(wanted) == 3
    x, y = ptb_reader.ptb_producer(text, 3, 2)
    assert x.shape == y.shape == (3, 2) and x.op.name.startswith("PTBProducer/")
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [tuple(v.tolist() for v in session.run([x, y])) for _ in range(4)]
        coordinator.request_stop()
        coordinator.join(threads)
    assert found == [*wanted, wanted[0]]


def test_a_text_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="epoch_size == 0"):
        next(ptb_reader.ptb_iterator([1, 2, 3], 2, 2))
    with tf.Graph().as_default() as graph, tf.Session() as session:
        ptb_reader.ptb_producer([1, 2, 3], 2, 2)
        checked = graph.get_operation_by_name(
            "PTBProducer/assert_positive/assert_less/Assert/Assert"
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="decrease batch_size"):
            session.run(checked)
