"""``tf.contrib.learn.preprocessing``: texts and categories as rows of integers, in plain Python."""

from __future__ import annotations

import math
import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from penstock.contrib.learn import vocabulary_file
from penstock.foundation.formats.gfile import GFile
from penstock.tools.platform.deprecation import deprecated as deprecated

# Runs of capitals, words in capitals, and words with what stands inside them.
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text.

    >>> list(tf.contrib.learn.preprocessing.tokenizer(["It's TensorFlow, TF1"]))
    [["It's", 'Tensor', 'Flow', 'TF', '1']]
    """
    return map(TOKENIZER_RE.findall, iterator)


def setup_processor_data_feeder(x: Any) -> Any:
    """Rows to go through: those of a data frame, or ``x`` itself."""
    return x.values if hasattr(x, "iloc") else x


class ByteProcessor:
    """Texts as rows of their UTF-8 bytes, cut or filled up with zeros.

    Args:
      max_document_length: bytes of a row.

    >>> [row.tolist() for row in tf.contrib.learn.preprocessing.ByteProcessor(3).transform(["ab"])]
    [[97, 98, 0]]
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Does nothing: bytes are known."""

    def fit_transform(self, x: Any) -> Iterator[np.ndarray]:
        """As ``transform``."""
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """A row of uint8 for each text."""
        for document in x:
            data = document.encode() if isinstance(document, str) else bytes(document)
            row = np.zeros(self.max_document_length, np.uint8)
            given = np.frombuffer(data[: self.max_document_length], np.uint8)
            row[: len(given)] = given
            yield row

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """The text of each row; an empty one where its bytes are no UTF-8."""
        for row in x:
            try:
                yield np.trim_zeros(np.asarray(row).astype(np.uint8), "b").tobytes().decode()
            except UnicodeDecodeError:
                yield ""


class CategoricalVocabulary:
    """Categories and their numbers, from 1 on; 0 is what is not known.

    Args:
      unknown_token: what 0 is called.
      support_reverse: whether ``reverse`` is to be asked.

    State: the numbers, how often each category was added, and whether new ones are taken.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        self._reverse_mapping: list[Any] = [unknown_token]
        self._freq: dict[Any, int] = defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Takes no new categories from now on; takes them again if ``freeze`` is False."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of a category, which gets the next one if it is new; 0 if none is taken."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._take(category)
        return self._mapping[category]

    def _take(self, category: Any) -> None:
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] = self._freq.get(category, 0) + count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps categories that came more than so often, numbered anew, frequent ones first.

        Args:
          min_frequency: those that came no more often are dropped.
          max_frequency: those that came as often, or more often, are; where it is not positive
            none are.
        """
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        ordered = sorted(by_name, key=lambda item: item[1], reverse=True)
        self._mapping, self._reverse_mapping = {self._unknown_token: 0}, [self._unknown_token]
        for category, count in ordered:
            if count > min_frequency and not 0 < max_frequency <= count:
                self._take(category)
        self._freq = dict(ordered[: len(self._mapping) - 1])

    def reverse(self, class_id: int) -> Any:
        """The category of a number.

        Raises:
          ValueError: the vocabulary was made without ``support_reverse``.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse()"
                " function."
            )
        return self._reverse_mapping[class_id]


class CategoricalProcessor:
    """Rows of categories as rows of numbers; what is not known, and nan, is 0.

    Args:
      min_frequency: categories that came no more often are not known.
      share: whether all columns have one vocabulary.
      vocabularies: one a column, where they are there already.
    """

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: list[CategoricalVocabulary] | None = None,
    ) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Freezes the vocabularies, or thaws them."""
        for vocabulary in self.vocabularies_ or ():
            vocabulary.freeze(freeze)

    def fit(self, x: Any, unused_y: Any = None) -> CategoricalProcessor:
        """Learns the categories of each column of ``x``, and freezes the vocabularies."""
        for row in setup_processor_data_feeder(x):
            vocabularies = self._for_columns(len(row))
            for vocabulary, value in zip(vocabularies, row, strict=False):
                if not _is_nan(value):
                    vocabulary.add(value)
        for vocabulary in self.vocabularies_ or ():
            if self.min_frequency > 0:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def _for_columns(self, count: int) -> list[CategoricalVocabulary]:
        if self.vocabularies_ is None:
            if self.share:
                self.vocabularies_ = [CategoricalVocabulary()] * count
            else:
                self.vocabularies_ = [CategoricalVocabulary() for _ in range(count)]
        return self.vocabularies_

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[np.ndarray]:
        """Learns from ``x``, and gives its rows."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[np.ndarray]:
        """A row of int64 for each of ``x``."""
        self.freeze()
        for row in setup_processor_data_feeder(x):
            pairs = zip(self._for_columns(len(row)), row, strict=False)
            yield np.array([0 if _is_nan(v) else known.get(v) for known, v in pairs], np.int64)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


class VocabularyProcessor:
    """Texts as rows of the numbers of their words, cut or filled up with zeros.

    Args:
      max_document_length: words of a row.
      min_frequency: words that came no more often are not known.
      vocabulary: a ``CategoricalVocabulary``, where it is there already.
      tokenizer_fn: from texts to lists of words; default ``tokenizer``.

    >>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(3)
    >>> [row.tolist() for row in processor.fit_transform(["a b", "b c d e"])]
    [[1, 2, 0], [2, 3, 4]]
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Any], Iterable[Sequence[Any]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[Any], unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of texts, and freezes the vocabulary."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[Any], unused_y: Any = None
    ) -> Iterator[np.ndarray]:
        """Learns from texts, and gives their rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[Any]) -> Iterator[np.ndarray]:
        """A row of int64 for each text."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, token in enumerate(tokens[: self.max_document_length]):
                row[place] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents: Iterable[Sequence[int]]) -> Iterator[str]:
        """The words of each row, with spaces between them."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Writes the processor, for ``restore``."""
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self, protocol=2))

    @classmethod
    def restore(cls, filename: str) -> Any:
        """A processor from what ``save`` wrote, here or in TensorFlow.

        Raises:
          tf.errors.DataLossError: the file names anything but parts of a vocabulary.
        """
        with GFile(filename, "rb") as file:
            return vocabulary_file.read(file.read(), _PARTS, filename)


_PARTS = {
    "VocabularyProcessor": VocabularyProcessor,
    "CategoricalVocabulary": CategoricalVocabulary,
    "tokenizer": tokenizer,
}
