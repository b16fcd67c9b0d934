"""The Penn Treebank as numbers: ``tf.models.rnn.ptb.reader``.

Words are numbered by how frequent they are in the training text, and alphabetically among equals;
the end of a line is the word ``<eos>``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import penstock as tf

_PARTS = ("train", "valid", "test")
_SOURCE = "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz"

Numbers = npt.NDArray[np.int32]


def _words(path: Path) -> list[str]:
    if not path.is_file():
        names = ", ".join(f"ptb.{part}.txt" for part in _PARTS)
        raise FileNotFoundError(f"no {path}: put {names} of {_SOURCE} into {path.parent}")
    return path.read_text(encoding="utf-8").replace("\n", " <eos> ").split()


def ptb_raw_data(data_path: str = ".") -> tuple[list[int], list[int], list[int], int]:
    """The three texts as numbers of words, and how many words there are.

    Words that are not in the training text are left out of the others.

    Args:
      data_path: folder of ``ptb.train.txt``, ``ptb.valid.txt`` and ``ptb.test.txt``.

    Raises:
      FileNotFoundError: if one of them is not there; says where the files come from.
    """
    train, valid, test = (_words(Path(data_path) / f"ptb.{part}.txt") for part in _PARTS)
    ranked = sorted(Counter(train).items(), key=lambda item: (-item[1], item[0]))
    numbers = {word: number for number, (word, _) in enumerate(ranked)}
    first, second, third = (
        [numbers[word] for word in text if word in numbers] for text in (train, valid, test)
    )
    return first, second, third, len(numbers)


def ptb_iterator(
    raw_data: Sequence[int], batch_size: int, num_steps: int
) -> Iterator[tuple[Numbers, Numbers]]:
    """Batches of a text: ids, and the ids that follow them, int32 of [batch_size, num_steps].

    The text is cut into ``batch_size`` rows, which a batch continues side by side.

    Example:
      >>> from penstock.models.tutorials import ptb_reader
      >>> x, y = next(ptb_reader.ptb_iterator(range(20), batch_size=2, num_steps=3))
      >>> x.tolist(), y.tolist()
      ([[0, 1, 2], [10, 11, 12]], [[1, 2, 3], [11, 12, 13]])

    Raises:
      ValueError: if the text is too short for one batch.
    """
    length = len(raw_data) // batch_size
    rows = np.array(raw_data, np.int32)[: batch_size * length].reshape(batch_size, length)
    epoch_size = (length - 1) // num_steps
    if epoch_size <= 0:
        raise ValueError("epoch_size == 0, decrease batch_size or num_steps")
    for start in range(0, epoch_size * num_steps, num_steps):
        stop = start + num_steps
        yield rows[:, start:stop], rows[:, start + 1 : stop + 1]


def ptb_producer(
    raw_data: Sequence[int], batch_size: int, num_steps: int, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """The same batches as tensors; a queue runner counts them, over and over.

    Args:
      raw_data: ids of words.
      batch_size, num_steps: shape of what each step gives.

    Returns:
      two int32 tensors of [batch_size, num_steps].

    Raises:
      tf.errors.InvalidArgumentError: if the text is too short for one batch.
    """
    with tf.name_scope(name, "PTBProducer", [raw_data, batch_size, num_steps]):
        text = tf.convert_to_tensor(raw_data, name="raw_data", dtype=tf.int32)
        length = tf.size(text) // batch_size
        rows = tf.reshape(text[0 : batch_size * length], [batch_size, length])
        epoch_size = (length - 1) // num_steps
        message = "epoch_size == 0, decrease batch_size or num_steps"
        with tf.control_dependencies([tf.assert_positive(epoch_size, message=message)]):
            epoch_size = tf.identity(epoch_size, name="epoch_size")
        turn = tf.train.range_input_producer(epoch_size, shuffle=False).dequeue()

        def window(shift: int) -> tf.Tensor:
            stop = [batch_size, (turn + 1) * num_steps + shift]
            found = tf.strided_slice(rows, [0, turn * num_steps + shift], stop)
            found.set_shape([batch_size, num_steps])
            return found

        return window(0), window(1)
