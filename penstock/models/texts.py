"""Texts that programs learn: files, folders of them, and whatever `tf.gfile` opens."""

from __future__ import annotations

import penstock as tf
from penstock.models.word2vec_text import Passage, cut_passages, python_passages


def read_texts(place: str | None) -> list[Passage]:
    """The passages of a text.

    Args:
      place: a file, a folder, whose files are read in the order of their names, or a URL that
        `tf.gfile` knows; None for the English that Python carries.

    Raises:
      FileNotFoundError: there is nothing.
      ValueError: it has no words, or is no text.
    """
    if place is None:
        return python_passages()
    passages = []
    for name in _files(place):
        try:
            with tf.gfile.GFile(name, "r") as file:
                passages += cut_passages(file.read().splitlines())
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}: no text in UTF-8: {error.reason}") from error
    if not passages:
        raise ValueError(f"{place}: no words in it")
    return passages


def _files(place: str) -> list[str]:
    if not tf.gfile.Exists(place):
        raise FileNotFoundError(2, "No such file or folder", place)
    if not tf.gfile.IsDirectory(place):
        return [place]
    found = [
        "/".join((folder.rstrip("/"), name))
        for folder, _, names in tf.gfile.Walk(place)
        for name in names
        if not name.startswith(".")
    ]
    return sorted(found)
