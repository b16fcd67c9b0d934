"""Sentences as numbers of words: ``tf.models.rnn.translate.data_utils``.

Words are bytes. The first four numbers are of what is no word: padding, the start and the end of a
sentence, and a word that is not known.
"""

from __future__ import annotations

import gzip
import re
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

_PAD, _GO, _EOS, _UNK = b"_PAD", b"_GO", b"_EOS", b"_UNK"
_START_VOCAB = [_PAD, _GO, _EOS, _UNK]
PAD_ID, GO_ID, EOS_ID, UNK_ID = range(4)

_WORD_SPLIT = re.compile(rb"([.,!?\"':;)(])")
_DIGIT = re.compile(rb"\d")
_WMT = {
    "giga-fren.release2.fixed": "training-giga-fren.tar",
    "newstest2013": "dev-v2.tgz",
}
_WMT_SOURCE = "http://www.statmt.org/wmt10 and wmt15"

Tokenizer = Callable[[bytes], list[bytes]]


def basic_tokenizer(sentence: bytes | str) -> list[bytes]:
    """The words and marks of a sentence.

    Example:
      >>> from penstock.models.tutorials import translate_data
      >>> translate_data.basic_tokenizer("Yes, it is.")
      [b'Yes', b',', b'it', b'is', b'.']
    """
    given = sentence.encode() if isinstance(sentence, str) else sentence
    return [part for piece in given.split() for part in _WORD_SPLIT.split(piece) if part]


def _tokens(
    sentence: bytes | str, tokenizer: Tokenizer | None, normalize_digits: bool
) -> Iterator[bytes]:
    given = sentence.encode() if isinstance(sentence, str) else sentence
    for token in (tokenizer or basic_tokenizer)(given):
        yield _DIGIT.sub(b"0", token) if normalize_digits else token


def create_vocabulary(
    vocabulary_path: str,
    data_path: str,
    max_vocabulary_size: int,
    tokenizer: Tokenizer | None = None,
    normalize_digits: bool = True,
) -> None:
    """Writes the most frequent words of a text, one a line, if the file is not there.

    Args:
      vocabulary_path: the file to write.
      data_path: the text, a sentence a line.
      max_vocabulary_size: how many words, with the four that are none.
      tokenizer: from a sentence to its words; by default ``basic_tokenizer``.
      normalize_digits: whether each digit counts as 0.
    """
    if Path(vocabulary_path).exists():
        return
    counts: Counter[bytes] = Counter()
    with open(data_path, "rb") as file:
        for line in file:
            counts.update(_tokens(line, tokenizer, normalize_digits))
    words = [*_START_VOCAB, *sorted(counts, key=lambda word: -counts[word])][:max_vocabulary_size]
    Path(vocabulary_path).write_bytes(b"".join(word + b"\n" for word in words))


def initialize_vocabulary(vocabulary_path: str) -> tuple[dict[bytes, int], list[bytes]]:
    """The numbers of words, and the words by number, of a file with one a line.

    Raises:
      ValueError: if there is no such file.
    """
    path = Path(vocabulary_path)
    if not path.exists():
        raise ValueError(f"Vocabulary file {vocabulary_path} not found.")
    words = [line.strip() for line in path.read_bytes().splitlines()]
    return {word: number for number, word in enumerate(words)}, words


def sentence_to_token_ids(
    sentence: bytes | str,
    vocabulary: dict[bytes, int],
    tokenizer: Tokenizer | None = None,
    normalize_digits: bool = True,
) -> list[int]:
    """The numbers of a sentence's words.

    Args:
      sentence: the sentence.
      vocabulary: from words to numbers.
      tokenizer, normalize_digits: as in ``create_vocabulary``.

    Example:
      >>> from penstock.models.tutorials import translate_data
      >>> translate_data.sentence_to_token_ids("a b 27", {b"a": 4, b"00": 5})
      [4, 3, 5]
    """
    return [vocabulary.get(w, UNK_ID) for w in _tokens(sentence, tokenizer, normalize_digits)]


def data_to_token_ids(
    data_path: str,
    target_path: str,
    vocabulary_path: str,
    tokenizer: Tokenizer | None = None,
    normalize_digits: bool = True,
) -> None:
    """Writes a text as numbers, a sentence a line, if the file is not there.

    Args:
      data_path: the text.
      target_path: the file to write.
      vocabulary_path: of the words.
      tokenizer, normalize_digits: as in ``create_vocabulary``.
    """
    if Path(target_path).exists():
        return
    vocabulary, _ = initialize_vocabulary(vocabulary_path)
    with open(data_path, "rb") as source, open(target_path, "w") as target:
        for line in source:
            numbers = sentence_to_token_ids(line, vocabulary, tokenizer, normalize_digits)
            target.write(" ".join(map(str, numbers)) + "\n")


def prepare_wmt_data(
    data_dir: str,
    en_vocabulary_size: int,
    fr_vocabulary_size: int,
    tokenizer: Tokenizer | None = None,
) -> tuple[str, str, str, str, str, str]:
    """The English and French sentences of WMT as numbers, in files of a folder.

    Args:
      data_dir: folder of the texts ``giga-fren.release2.fixed`` and ``newstest2013``, with the
        ends ``.en`` and ``.fr``; or of the archives that they come in.
      en_vocabulary_size, fr_vocabulary_size: how many words are kept.
      tokenizer: as in ``create_vocabulary``.

    Returns:
      paths: numbers to train on in English and French, numbers to test on in both, vocabularies.

    Raises:
      FileNotFoundError: if neither texts nor archives are there; says which files to put where.
    """
    folder = Path(data_dir)
    train, test = (_texts(folder, name, archive) for name, archive in _WMT.items())
    found: dict[str, list[str]] = {}
    for language, size in (("en", en_vocabulary_size), ("fr", fr_vocabulary_size)):
        words = str(folder / f"vocab{size}.{language}")
        create_vocabulary(words, f"{train}.{language}", size, tokenizer)
        numbers = [f"{text}.ids{size}.{language}" for text in (train, test)]
        for text, target in zip((train, test), numbers, strict=True):
            data_to_token_ids(f"{text}.{language}", target, words, tokenizer)
        found[language] = [*numbers, words]
    (en_train, en_test, en_words), (fr_train, fr_test, fr_words) = found["en"], found["fr"]
    return en_train, fr_train, en_test, fr_test, en_words, fr_words


def _texts(folder: Path, name: str, archive: str) -> Path:
    """The path of a pair of texts without their ends, unpacked where they are in an archive."""
    texts = [folder / f"{name}.{language}" for language in ("en", "fr")]
    if all(text.is_file() for text in texts):
        return folder / name
    if not (folder / archive).is_file():
        names = " and ".join(text.name for text in texts)
        raise FileNotFoundError(
            f"no {names} in {folder}: put them there, or {archive} of {_WMT_SOURCE}"
        )
    with tarfile.open(folder / archive) as files:
        for member in files:
            last = member.name.rpartition("/")[2]
            for text in texts:
                if last in (text.name, f"{text.name}.gz") and (source := files.extractfile(member)):
                    content = gzip.open(source) if last.endswith(".gz") else source
                    with text.open("wb") as target:
                        shutil.copyfileobj(content, target)
    return folder / name
