"""Trained word vectors: their file, which words are near one another, and analogies.

The vectors are constants of a small graph that answers with `tf.nn.top_k` on cosines.  They are
kept in word2vec's text form: a line with their number and width, then a word and its values a line.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

import penstock as tf
from penstock.models.word2vec_text import Numbers

Vectors = npt.NDArray[np.float32]


class UnknownWordError(KeyError):
    """A word was asked for that the vocabulary has not."""

    def __str__(self) -> str:
        return str(self.args[0])


class Embeddings:
    """Words and their vectors, and what can be asked of them.

    Args:
      words: the words, the most frequent first.
      vectors: [words, width].

    >>> made = Embeddings(["cat", "kitten", "dog", "puppy"],
    ...                   np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]], np.float32))
    >>> [word for word, cosine in made.nearby(["cat"], count=2)[0]]
    ['cat', 'kitten']
    >>> made.analogy("cat", "kitten", "dog")
    'puppy'
    """

    def __init__(self, words: list[str], vectors: Vectors) -> None:
        self.words, self.vectors = words, np.asarray(vectors, np.float32)
        self.numbers = {word: number for number, word in enumerate(words)}
        self.graph = tf.Graph()
        with self.graph.as_default():
            self._build()
            self._session = tf.Session(graph=self.graph)
            self._session.run(tf.global_variables_initializer(), {self._initial: self.vectors})

    def _build(self) -> None:
        # Fed once into a variable: a constant would lie in the graph, and be copied with it.
        self._initial = tf.placeholder(tf.float32, self.vectors.shape)
        table = tf.Variable(self._initial, trainable=False, name="embeddings")
        unit = tf.nn.l2_normalize(table, 1)
        self._asked = tf.placeholder(tf.int32, [None], name="asked")
        self._count = tf.placeholder(tf.int32, [], name="count")
        cosines = tf.matmul(tf.gather(unit, self._asked), unit, transpose_b=True)
        self._nearest = tf.nn.top_k(cosines, self._count)

        self._questions = tf.placeholder(tf.int32, [None, 3], name="questions")
        first, second, third = (tf.gather(unit, self._questions[:, i]) for i in range(3))
        scores = tf.matmul(third + (second - first), unit, transpose_b=True)
        # The three words of the question are often among the nearest, and never the answer.
        _, self._answers = tf.nn.top_k(scores, min(4, len(self.words)))

    def number(self, word: str) -> int:
        """A word's number.

        Raises:
          UnknownWordError: it is not in the vocabulary.
        """
        if word not in self.numbers:
            raise UnknownWordError(
                f"no vector for {word!r}: it is not among the {len(self.words)} words learned"
            )
        return self.numbers[word]

    def nearby(self, words: list[str], count: int = 10) -> list[list[tuple[str, float]]]:
        """For each word, the `count` words of the largest cosine with it, itself the first."""
        asked = [self.number(word) for word in words]
        feeds = {self._asked: asked, self._count: min(count, len(self.words))}
        cosines, found = self._session.run(self._nearest, feeds)
        return [
            [(self.words[number], float(cosine)) for number, cosine in zip(row, values)]
            for row, values in zip(found, cosines)
        ]

    def analogy(self, first: str, second: str, third: str) -> str:
        """The word that is to `third` what `second` is to `first`."""
        question = [[self.number(word) for word in (first, second, third)]]
        return self.words[int(self.answers(np.array(question, np.int32))[0])]

    def answers(self, questions: Numbers) -> Numbers:
        """Answers of many analogies.

        Args:
          questions: the numbers of three words each, [n, 3].

        Returns:
          The word nearest to third + second - first that is none of the three, [n].
        """
        found = self._session.run(self._answers, {self._questions: questions})
        asked = (found[:, :, None] == questions[:, None, :]).any(axis=2)
        best: Numbers = found[np.arange(len(found)), np.argmin(asked, axis=1)]
        return best

    def cosine(self, first: str, second: str) -> float:
        """The cosine of two words' vectors."""
        one, other = (self.vectors[self.number(word)] for word in (first, second))
        return float(one @ other / np.sqrt((one @ one) * (other @ other)))

    def write(self, path: Path) -> None:
        """Writes the vectors in word2vec's text form."""
        with path.open("w", encoding="utf-8") as file:
            file.write(f"{len(self.words)} {self.vectors.shape[1]}\n")
            for word, vector in zip(self.words, self.vectors):
                file.write(f"{word} {' '.join(f'{value:.9g}' for value in vector)}\n")

    @classmethod
    def read(cls, path: Path) -> Embeddings:
        """Reads vectors in word2vec's text form.

        Raises:
          ValueError: the file is not in that form; the text says where.
        """
        words: list[str] = []
        with path.open(encoding="utf-8") as file:
            head = file.readline().split()
            if len(head) != 2 or not all(part.isdigit() for part in head):
                raise ValueError(f"{path}:1: expected the number of vectors and their width")
            count, width = map(int, head)
            vectors = np.empty((count, width), np.float32)
            for line in file:
                word, *values = line.split()
                if len(values) != width or len(words) == count:
                    raise ValueError(
                        f"{path}:{len(words) + 2}: expected {count} lines of a word and {width}"
                        f" values, found one of {len(values)} values"
                    )
                vectors[len(words)] = [float(value) for value in values]
                words.append(word)
        if len(words) != count:
            raise ValueError(f"{path}: expected {count} vectors, found {len(words)}")
        return cls(words, vectors)
