"""Files and directories as ``tf.gfile`` has them, over the file-system seam of this room.

State of a ``GFile``: the name and mode, and two open streams, as in TensorFlow: the first call that
reads makes the one that reads, from the start of the file, and the first that writes the one that
writes, which empties the file unless the mode appends.  What was written is read once it is
flushed.  Text is UTF-8; positions count bytes.  Errors are those of ``tf.errors``, naming the path.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import IO, Any, Self

from penstock.foundation.base import errors
from penstock.foundation.formats import files

_MODES = ("r", "w", "a", "r+", "w+", "a+")
# Bytes that a copy moves at a time.
_CHUNK = 1 << 22


def _path(name: Any) -> str:
    """A path as text.

    Raises:
      TypeError: it is none.
    """
    if isinstance(name, bytes):
        return name.decode()
    if isinstance(name, str | os.PathLike):
        return str(os.fsdecode(name))
    raise TypeError(f"expected a path (str, bytes or os.PathLike); found {name!r}")


class GFile:
    """A file, opened when it is first read or written.

    Args:
      name: a local path, or a URL of a file system that fsspec knows.
      mode: ``r``, ``w``, ``a``, or, to read and write, ``r+``, ``w+`` or ``a+``; the first write
        appends with ``a`` and ``a+`` and empties the file with the others.  With ``b`` contents
        are bytes, otherwise text in UTF-8.

    Raises:
      tf.errors.InvalidArgumentError: another mode.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "notes")
      >>> with GFile(path, "w") as stream:
      ...     stream.write("one line")
      >>> GFile(path).read(), GFile(path).size()
      ('one line', 8)
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        self._plain = mode.replace("b", "")
        if self._plain not in _MODES:
            raise errors.invalid(f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}")
        self._reader: IO[bytes] | None = None
        self._writer: IO[bytes] | None = None

    @property
    def name(self) -> Any:
        """The name given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode given."""
        return self._mode

    def _reading(self) -> IO[bytes]:
        if self._plain in ("w", "a"):
            raise self._refused("reading")
        if self._reader is None:
            self._reader = files.open_file(_path(self._name), "rb")
        return self._reader

    def _writing(self) -> IO[bytes]:
        if self._plain == "r":
            raise self._refused("writing")
        if self._writer is None:
            self._writer = files.open_file(_path(self._name), "ab" if "a" in self._plain else "wb")
        return self._writer

    def _refused(self, what: str) -> errors.PermissionDeniedError:
        return errors.PermissionDeniedError(
            None, None, f"File isn't open for {what}: {self._name} has mode {self._mode!r}"
        )

    def _value(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def size(self) -> int:
        """The length of the file in bytes."""
        return files.stat(_path(self._name)).length

    def write(self, file_content: Any) -> None:
        """Writes text or bytes behind what was written before.

        Raises:
          TypeError: neither.
          tf.errors.PermissionDeniedError: the file is open for reading.
        """
        stream = self._writing()
        if isinstance(file_content, str):
            data = file_content.encode()
        elif isinstance(file_content, bytes | bytearray | memoryview):
            data = bytes(file_content)
        else:
            raise TypeError(f"expected text or bytes to write; found {file_content!r}")
        with files.error_names(_path(self._name)):
            stream.write(data)

    def read(self, n: int = -1) -> Any:
        """Contents from the position on.

        Args:
          n: how many bytes (in text modes: characters); -1 for all.

        Raises:
          tf.errors.NotFoundError: there is no such file.
        """
        stream = self._reading()
        if n < 0 and self._writer is not None:  # the stream may hold bytes that are gone
            n = max(self.size() - stream.tell(), 0)
            with files.error_names(_path(self._name)):
                return self._value(stream.read(n))
        with files.error_names(_path(self._name)):
            if n < 0 or self._binary:
                return self._value(stream.read(n))
            return _characters(stream, n)

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        stream = self._reading()
        with files.error_names(_path(self._name)):
            return self._value(stream.readline())

    def readlines(self) -> list[Any]:
        """All lines from the position on, with their ends."""
        return list(self)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """The next line; raises StopIteration at the end."""
        return self.__next__()

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves the position.

        Args:
          offset: bytes.
          whence: from where: 0 the start, 1 the position, 2 the end.
          position: older name of ``offset`` from the start.

        Raises:
          TypeError: neither ``offset`` nor ``position``.
          tf.errors.InvalidArgumentError: another ``whence``, or a position before the start.
          tf.errors.OutOfRangeError: a position behind the end.
        """
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is None:
            offset, whence = int(position or 0), 0
        if whence not in (0, 1, 2):
            raise errors.invalid(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        stream = self._reading()
        at = stream.tell()
        end = stream.seek(0, io.SEEK_END)
        stream.seek(at)
        start = {0: 0, 1: at, 2: end}[whence]
        target = start + offset
        if target > end:
            raise errors.OutOfRangeError(
                None, None, f"{self._name}: position {target} is behind the end, {end}"
            )
        if target < 0:
            raise errors.invalid(f"{self._name}: position {target} is before the start")
        stream.seek(target)

    def seekable(self) -> bool:
        """True: every file has positions."""
        return True

    def tell(self) -> int:
        """The position in bytes: that of reading where the mode allows to read."""
        return (self._writing() if self._plain in ("w", "a") else self._reading()).tell()

    def flush(self) -> None:
        """Hands what was written to the file system."""
        if self._writer is not None:
            with files.error_names(_path(self._name)):
                self._writer.flush()

    def close(self) -> None:
        """Writes what is left and closes the file."""
        streams, self._reader, self._writer = (self._reader, self._writer), None, None
        for stream in streams:
            if stream is not None:
                with files.error_names(_path(self._name)):
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A new file that got nothing comes to be all the same.
        if kind is None and self._writer is None and self._plain not in ("r", "r+"):
            if not files.exists(_path(self._name)):
                self._writing()
        self.close()


class FastGFile(GFile):
    """The same; TensorFlow's was quicker by not looking at the file before it is read.

    Args:
      name: a path or URL.
      mode: as of ``open``: "r", "w", "a", with "b" for bytes.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "labels.txt")
      >>> with tf.gfile.FastGFile(path, "w") as file:
      ...     file.write("cat\\ndog\\n")
      >>> [line.rstrip() for line in tf.gfile.FastGFile(path)]
      ['cat', 'dog']
    """


Open = GFile


def _characters(stream: IO[bytes], count: int) -> str:
    """The next characters of a UTF-8 stream: a character's first byte is never 0b10xxxxxx."""
    data = stream.read(count)
    while data:
        have = sum(byte & 0xC0 != 0x80 for byte in data)
        missing = count - have
        more = stream.read(max(missing, 1))
        if missing > 0:
            if not more:
                break
            data += more
            continue
        while more and more[0] & 0xC0 == 0x80:
            data += more
            more = stream.read(1)
        stream.seek(-len(more), io.SEEK_CUR)
        break
    return data.decode()


# ---- directories and whole files -----------------------------------------------------------------


def Exists(filename: Any) -> bool:
    """Whether there is a file or directory.

    Args:
      filename: a path or URL.

    Returns:
      Whether it is there: a file or a directory.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> tf.gfile.Exists(tempfile.gettempdir()), tf.gfile.Exists("/no/such/file")
      (True, False)
    """
    return files.exists(_path(filename))


def IsDirectory(dirname: Any) -> bool:
    """Whether there is a directory."""
    return files.isdir(_path(dirname))


def Stat(filename: Any) -> files.FileStatistics:
    """Length, time of the last change (ns), and kind, of a file or directory.

    Raises:
      tf.errors.NotFoundError: there is nothing.
    """
    return files.stat(_path(filename))


def Glob(filename: Any) -> list[str]:
    """The paths that match a shell pattern, or any of a list of patterns.

    Args:
      filename: a pattern with ``*``, ``?`` and ``[...]``, or a list of them.

    Returns:
      A list of paths; empty where nothing fits.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> for name in ("a.txt", "b.txt", "c.png"):
      ...     open(os.path.join(folder, name), "w").close()
      >>> [os.path.basename(path) for path in sorted(tf.gfile.Glob(folder + "/*.txt"))]
      ['a.txt', 'b.txt']
    """
    if isinstance(filename, str | bytes | os.PathLike):
        return files.glob(_path(filename))
    return [found for pattern in filename for found in files.glob(_path(pattern))]


def ListDirectory(dirname: Any) -> list[str]:
    """The names in a directory.

    Raises:
      tf.errors.NotFoundError: it is no directory.
    """
    path = _path(dirname)
    if not files.isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    return files.listdir(path)


def MkDir(dirname: Any) -> None:
    """Makes a directory, whose parent exists; one that exists is left alone.

    Raises:
      tf.errors.NotFoundError: there is no parent.
    """
    path = _path(dirname)
    parent = path.rstrip("/").rpartition("/")[0]
    if parent and not files.is_remote(path) and not files.isdir(parent):
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory")
    files.makedirs(path)


def MakeDirs(dirname: Any) -> None:
    """Makes a directory and those above it; what exists is left alone.

    Args:
      dirname: a path or URL.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> folder = os.path.join(tempfile.mkdtemp(), "logs", "train")
      >>> tf.gfile.MakeDirs(folder)  # those above it, too; once more is no error
      >>> tf.gfile.MakeDirs(folder)
      >>> tf.gfile.IsDirectory(folder)
      True
    """
    path = _path(dirname)
    if not files.exists(path):
        files.makedirs(path)


def Remove(filename: Any) -> None:
    """Removes a file.

    Raises:
      tf.errors.NotFoundError: there is none.
      tf.errors.FailedPreconditionError: it is a directory.
    """
    path = _path(filename)
    if files.isdir(path):
        raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory")
    files.remove(path)


def DeleteRecursively(dirname: Any) -> None:
    """Removes a directory with all that is in it.

    Raises:
      tf.errors.NotFoundError: there is none.
      tf.errors.FailedPreconditionError: it is a file, or a link to a directory.

    Args:
      dirname: a path or URL.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> tf.gfile.MakeDirs(folder + "/logs/train")
      >>> tf.gfile.DeleteRecursively(folder + "/logs")
      >>> tf.gfile.ListDirectory(folder)
      []
    """
    path = _path(dirname)
    if not files.exists(path):
        raise errors.NotFoundError(None, None, f"{path} not found")
    if not files.isdir(path) or os.path.islink(path):
        raise errors.FailedPreconditionError(None, None, f"{path}; Not a directory")
    files.remove_tree(path)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Renames or moves a file.

    Raises:
      tf.errors.NotFoundError: there is no such file.
      tf.errors.AlreadyExistsError: ``newname`` is there, and ``overwrite`` is False.
    """
    _refuse_existing(newname, overwrite)
    files.replace(_path(oldname), _path(newname))


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file's contents, from one file system to another if need be.

    Raises:
      tf.errors.NotFoundError: there is no such file.
      tf.errors.AlreadyExistsError: ``newpath`` is there, and ``overwrite`` is False.
    """
    _refuse_existing(newpath, overwrite)
    old, new = _path(oldpath), _path(newpath)
    if old == new:
        files.open_file(old, "rb").close()  # whether there is one
        return
    with files.open_file(old, "rb") as source, files.open_file(new, "wb") as target:
        while data := source.read(_CHUNK):
            with files.error_names(new):
                target.write(data)


def _refuse_existing(path: Any, overwrite: bool) -> None:
    if not overwrite and files.exists(_path(path)):
        raise errors.AlreadyExistsError(None, None, f"{_path(path)}: file already exists")


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """The directories at and under ``top``.

    Args:
      top: where to begin; where there is no such directory, nothing is given.
      in_order: a directory comes before those in it; otherwise after them.

    Returns:
      An iterator of (path, names of directories in it, names of files in it).
    """
    return walk(top, in_order)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Exception], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """The directories at and under ``top``, as ``Walk``.

    Args:
      top: where to begin.
      topdown: a directory comes before those in it.
      onerror: called with the error when a directory cannot be listed.
    """
    path = _path(top)
    try:
        names = ListDirectory(path)
    except errors.OpError as error:
        if onerror is not None:
            onerror(error)
        return
    inside, others = _sorted_out(path, names)
    row = (path, inside, others)
    if topdown:
        yield row
    for name in inside:
        yield from walk(_joined(path, name), topdown, onerror)
    if not topdown:
        yield row


def _sorted_out(path: str, names: Sequence[str]) -> tuple[list[str], list[str]]:
    inside = [n for n in names if files.isdir(_joined(path, n))]
    taken = set(inside)
    return inside, [n for n in names if n not in taken]


def _joined(path: str, name: str) -> str:
    return f"{path}{name}" if path.endswith("/") else f"{path}/{name}"


# ---- the names of tf.io.gfile --------------------------------------------------------------------


def exists(path: Any) -> bool:
    """Whether there is a file or directory."""
    return Exists(path)


def isdir(path: Any) -> bool:
    """Whether there is a directory."""
    return IsDirectory(path)


def stat(path: Any) -> files.FileStatistics:
    """As ``Stat``."""
    return Stat(path)


def glob(pattern: Any) -> list[str]:
    """As ``Glob``."""
    return Glob(pattern)


def listdir(path: Any) -> list[str]:
    """As ``ListDirectory``."""
    return ListDirectory(path)


def mkdir(path: Any) -> None:
    """As ``MkDir``."""
    MkDir(path)


def makedirs(path: Any) -> None:
    """As ``MakeDirs``."""
    MakeDirs(path)


def remove(path: Any) -> None:
    """As ``Remove``."""
    Remove(path)


def rmtree(path: Any) -> None:
    """As ``DeleteRecursively``."""
    DeleteRecursively(path)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """As ``Rename``."""
    Rename(src, dst, overwrite)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """As ``Copy``."""
    Copy(src, dst, overwrite)
