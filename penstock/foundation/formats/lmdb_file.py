"""Records of LMDB databases by lmdb, which is an optional dependency.

A process may open a database once, so that all who read it at the same time share what is open.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from penstock.foundation.base import errors

# By path: what is open, and how many read it.
_open: dict[str, tuple[Any, int]] = {}
_lock = threading.RLock()  # a reader may be dropped while its thread holds it


def read_records(path: str, asker: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a database, by rising key, each read as it is asked for.

    Args:
      path: of the database's folder, or of its file.
      asker: what needs it, for the error.

    Raises:
      tf.errors.UnimplementedError: lmdb is not installed.
      tf.errors.InvalidArgumentError: there is no such database.
    """
    try:
        lmdb = import_module("lmdb")
    except ImportError:
        raise errors.UnimplementedError(
            None, None, f"{asker} requires lmdb: pip install penstock[lmdb]"
        ) from None
    with (
        _opened(lmdb, path) as database,
        database.begin() as transaction,
        transaction.cursor() as cursor,
    ):
        yield from cursor


@contextmanager
def _opened(lmdb: Any, path: str) -> Iterator[Any]:
    key = os.path.realpath(path)
    with _lock:
        if key not in _open:
            try:
                # Nothing is made or locked: the file may lie where nobody may write.
                database = lmdb.open(
                    key, subdir=not os.path.isfile(key), readonly=True, create=False, lock=False
                )
            except lmdb.Error as error:
                raise errors.invalid(f"{error}; asked for was {path!r}") from None
            _open[key] = (database, 0)
        database, users = _open[key]
        _open[key] = (database, users + 1)
    try:
        yield database
    finally:
        with _lock:
            database, users = _open.pop(key)
            if users > 1:
                _open[key] = (database, users - 1)
            else:
                database.close()
