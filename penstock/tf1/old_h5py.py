"""What h5py gave before version 3, where it gives something else now.

Texts are bytes where the file says ASCII, and ``str`` where it says UTF-8: programs write
``attrs["config"].decode()``.  Version 3 gives ``str`` for both in attributes, and bytes for both in
datasets.  A list of bytes becomes an attribute of texts of one length, and a file is opened for
reading and writing, and made where there is none.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from penstock.tf1 import restoring


def of_h5py(module: ModuleType) -> None:
    """Puts it back; a version before 3 is left alone."""
    if int(module.__version__.partition(".")[0]) < 3:
        return
    _texts_of_attributes(module)
    _texts_of_datasets(module)
    _modes_of_files(module)


def _texts_of_attributes(module: ModuleType) -> None:
    manager = module.AttributeManager
    before = manager.__getitem__

    def get(self: Any, name: Any) -> Any:
        value = before(self, name)
        kind = self.get_id(name).get_type()
        strings = isinstance(kind, module.h5t.TypeStringID) and kind.is_variable_str()
        if not strings or kind.get_cset() != module.h5t.CSET_ASCII:
            return value
        restoring.note("h5py's attributes of ASCII texts as bytes")
        return _each(value, str, lambda text: text.encode())

    def create(self: Any, name: Any, data: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(data, list | tuple) and data and all(isinstance(d, bytes) for d in data):
            data = sys.modules["numpy"].asarray(data)  # h5py has imported it
        made(self, name, data, *args, **kwargs)

    made = manager.create
    manager.__getitem__, manager.create = get, create


def _modes_of_files(module: ModuleType) -> None:
    file = module.File
    before = file.__init__

    def init(self: Any, name: Any, mode: str | None = None, *args: Any, **kwargs: Any) -> None:
        before(self, name, "a" if mode is None else mode, *args, **kwargs)

    file.__init__ = init


def _texts_of_datasets(module: ModuleType) -> None:
    dataset = module.Dataset
    before = dataset.__getitem__

    def get(self: Any, args: Any, new_dtype: Any = None) -> Any:
        value = before(self, args, new_dtype)
        kind = module.check_string_dtype(self.dtype) if self.dtype.kind == "O" else None
        if kind is None or kind.encoding != "utf-8":
            return value
        restoring.note("h5py's datasets of UTF-8 texts as str")
        return _each(value, bytes, lambda text: text.decode())

    def value(self: Any) -> Any:
        restoring.note("h5py.Dataset.value")
        return self[()]

    dataset.__getitem__ = get
    if not hasattr(dataset, "value"):
        dataset.value = property(value)


def _each(value: Any, kind: type, changed: Any) -> Any:
    """A text, or an array of them, changed where they are of a kind."""
    if isinstance(value, kind):
        return changed(value)
    if getattr(getattr(value, "dtype", None), "kind", "") != "O":
        return value
    found = value.copy()
    for place, one in enumerate(value.flat):
        if isinstance(one, kind):
            found.flat[place] = changed(one)
    return found
