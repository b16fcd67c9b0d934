"""``tf.keras.preprocessing.text``: texts as words, words as numbers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

_MARKS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    text: str, filters: str = _MARKS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text.

    Args:
      text: the text.
      filters: characters that become ``split``.
      lower: whether words are in lower case.
      split: what stands between words.

    Example:
      >>> import penstock as tf
      >>> tf.keras.preprocessing.text.text_to_word_sequence("Yes, no.")
      ['yes', 'no']
    """
    text = text.lower() if lower else text
    cleared = text.translate({ord(mark): split for mark in filters})
    return [word for word in cleared.split(split) if word]


def hashing_trick(
    text: str, n: int, hash_function: Any = None, filters: str = _MARKS, lower: bool = True,
    split: str = " ",
) -> list[int]:  # fmt: skip
    """The words of a text as numbers from 1 to ``n - 1``, by their hash.

    Args:
      text, filters, lower, split: as of ``text_to_word_sequence``.
      n: past the largest number.
      hash_function: of a word; default Python's, which differs from process to process; ``"md5"``.
    """
    number: Callable[[str], int] = hash_function or hash
    if hash_function == "md5":

        def number(word: str) -> int:
            return int(hashlib.md5(word.encode()).hexdigest(), 16)

    words = text_to_word_sequence(text, filters, lower, split)
    return [number(word) % (n - 1) + 1 for word in words]


def one_hot(
    text: str, n: int, filters: str = _MARKS, lower: bool = True, split: str = " "
) -> list[int]:
    """``hashing_trick`` with Python's hash, under its older name."""
    return hashing_trick(text, n, hash, filters, lower, split)


class Tokenizer:
    """Words by number: the most frequent is 1.

    Args:
      num_words: numbers from this on stand for no word; default: all are kept.
      filters, lower, split: as of ``text_to_word_sequence``.
      char_level: whether characters are counted in the place of words.
      oov_token: stands for words that are not known; it is number 1.
      document_count: how many texts were counted.
      **kwargs: ``nb_words``, older name of ``num_words``.

    Example:
      >>> import penstock as tf
      >>> tokenizer = tf.keras.preprocessing.text.Tokenizer()
      >>> tokenizer.fit_on_texts(["the cat", "the dog saw the cat"])
      >>> tokenizer.texts_to_sequences(["the dog"])
      [[1, 3]]
    """

    def __init__(
        self, num_words: int | None = None, filters: str = _MARKS, lower: bool = True,
        split: str = " ", char_level: bool = False, oov_token: str | None = None,
        document_count: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        num_words = kwargs.pop("nb_words", num_words)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.document_count = char_level, oov_token, document_count
        self.word_counts: dict[str, int] = {}
        self.word_docs: dict[str, int] = {}
        self.index_docs: dict[int, int] = {}
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> list[str]:
        if self.char_level or isinstance(text, list | tuple):
            if not self.lower:
                return list(text)
            return [one.lower() for one in text]
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Counts the words of texts, each a text or a list of words, and numbers all words."""
        counts, docs = Counter(self.word_counts), Counter(self.word_docs)
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            counts.update(words)
            docs.update(set(words))
        self.word_counts, self.word_docs = dict(counts), dict(docs)
        ordered = sorted(counts.items(), key=lambda pair: pair[1], reverse=True)
        listed = [] if self.oov_token is None else [self.oov_token]
        listed += [word for word, _ in ordered]
        self.word_index = {word: number for number, word in enumerate(listed, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        self.index_docs = {self.word_index[word]: count for word, count in docs.items()}

    def fit_on_sequences(self, sequences: Iterable[Any]) -> None:
        """Counts texts that are lists of numbers already."""
        docs: Counter[int] = Counter(self.index_docs)
        for sequence in sequences:
            self.document_count += 1
            docs.update(set(sequence))
        self.index_docs = dict(docs)

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Texts as lists of numbers; words without one are left out, or are ``oov_token``'s."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """As ``texts_to_sequences``, one by one."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            found = []
            for word in self._words(text):
                number = self.word_index.get(word)
                if number is None or (self.num_words and number >= self.num_words):
                    number = unknown
                if number is not None:
                    found.append(number)
            yield found

    def sequences_to_texts(self, sequences: Iterable[Any]) -> list[str]:
        """Lists of numbers as texts, with a blank between words."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Any]) -> Iterator[str]:
        """As ``sequences_to_texts``, one by one."""
        unknown = self.oov_token
        for sequence in sequences:
            found = []
            for number in sequence:
                word = self.index_word.get(number)
                if word is None or (self.num_words and number >= self.num_words):
                    word = unknown
                if word is not None:
                    found.append(word)
            yield " ".join(found)

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Any:
        """A row a text; see ``sequences_to_matrix``."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: list[Any], mode: str = "binary") -> Any:
        """A row a sequence, a column a number.

        Args:
          sequences: lists of numbers.
          mode: what stands there: ``"binary"``, ``"count"``, ``"freq"`` or ``"tfidf"``.

        Returns:
          [sequences, ``num_words`` or numbers of words + 1].

        Raises:
          ValueError: nothing says how many columns there are, or the mode is unknown.
        """
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        made = np.zeros((len(sequences), width))
        for row, sequence in zip(made, sequences, strict=True):
            for number, count in Counter(n for n in sequence if n < width).items():
                row[number] = self._weight(mode, number, count, len(sequence))
        return made

    def _weight(self, mode: str, number: int, count: int, length: int) -> float:
        if mode == "binary":
            return 1
        if mode == "count":
            return count
        if mode == "freq":
            return count / length
        documents = self.index_docs.get(number, 0)
        rarity = np.log(1 + self.document_count / (1 + documents))
        return float((1 + np.log(count)) * rarity)

    def get_config(self) -> dict[str, Any]:
        """Its arguments and counts, the latter as JSON."""
        counts = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        return {
            "num_words": self.num_words, "filters": self.filters, "lower": self.lower,
            "split": self.split, "char_level": self.char_level, "oov_token": self.oov_token,
            "document_count": self.document_count,
            **{name: json.dumps(getattr(self, name)) for name in counts},
        }  # fmt: skip

    def to_json(self, **kwargs: Any) -> str:
        """Its configuration as JSON."""
        return json.dumps(
            {"class_name": type(self).__name__, "config": self.get_config()}, **kwargs
        )


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer that ``to_json`` wrote."""
    config = json.loads(json_string)["config"]
    told = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    for name in ("index_docs", "index_word"):
        told[name] = {int(number): value for number, value in told[name].items()}
    made = Tokenizer(**config)
    vars(made).update(told)
    return made
