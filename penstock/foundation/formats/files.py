"""The file system, thin: local paths by `os` and `open`, "scheme://..." by fsspec.

Every failure is an error of ``tf.errors`` that names the path.  "file://" paths are local ones.
fsspec is imported when the first remote path is met.
"""

from __future__ import annotations

import errno
import glob as _glob
import os
import platform
import re
import shutil
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from penstock.foundation.base import errors

Path = str | os.PathLike[str]

_ERRORS: dict[int, type[Any]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError,
    errno.EFBIG: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.ENFILE: errors.ResourceExhaustedError,
    errno.ENOMEM: errors.ResourceExhaustedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
}


class FileStatistics(NamedTuple):
    """Length in bytes, time of the last change in nanoseconds since 1970, whether a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


@contextmanager
def error_names(path: Path) -> Iterator[None]:
    """Turns an OSError raised inside into the class of ``tf.errors``, with the path in its text."""
    try:
        yield
    except OSError as error:
        raise _named(path, error) from error


def _named(path: Path, error: OSError) -> errors.OpError:
    code = error.errno
    if code is None:  # fsspec raises FileNotFoundError(path)
        code = errno.ENOENT if isinstance(error, FileNotFoundError) else errno.EIO
    found = _ERRORS.get(code, errors.UnknownError)
    said = error.strerror or str(error) or type(error).__name__
    made: errors.OpError = found(None, None, f"{os.fsdecode(path)}: {said}")
    return made


def is_remote(path: Path) -> bool:
    """Whether the path is of another file system than the machine's own.

    >>> is_remote("memory://x"), is_remote("/tmp/x"), is_remote("file:///tmp/x")
    (True, False, False)
    """
    text = os.fsdecode(path)
    return "://" in text and not text.startswith("file://")


def local(path: Path) -> str:
    """The path without "file://"."""
    return os.fsdecode(path).removeprefix("file://")


def _remote(path: Path) -> tuple[Any, str]:
    """The fsspec file system of a remote path, and the path within it."""
    import fsspec  # type: ignore[import-untyped]

    text = os.fsdecode(path)
    try:
        file_system, inner = fsspec.core.url_to_fs(text)
    except (ValueError, ImportError) as error:
        scheme = text.partition("://")[0]
        raise errors.UnimplementedError(
            None, None, f"File system scheme {scheme!r} not implemented (file: {text!r}): {error}"
        ) from error
    return file_system, inner


def open_file(path: Path, mode: str = "rb") -> IO[Any]:
    """Opens a file.

    Args:
      path: local or "scheme://".
      mode: as for `open`; text is UTF-8.

    Raises:
      NotFoundError, PermissionDeniedError, ...: by the operating system's reason.
    """
    encoding = None if "b" in mode else "utf-8"
    with error_names(path):
        if is_remote(path):
            file_system, inner = _remote(path)
            keywords = {} if encoding is None else {"encoding": encoding}
            return file_system.open(inner, mode, **keywords)  # type: ignore[no-any-return]
        return open(local(path), mode, encoding=encoding)


def read(path: Path) -> bytes:
    """All that a file holds.

    Pipelines read small files by the thousand: a file object makes twice as many system calls, and
    each lets go of the interpreter.

    Raises:
      NotFoundError, PermissionDeniedError, ...: by the operating system's reason.
    """
    text = os.fsdecode(path)
    if "://" in text:
        with open_file(text) as file:
            content: bytes = file.read()
        return content
    try:
        descriptor = os.open(text, os.O_RDONLY)
        try:
            return _all_of(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _named(path, error) from error


def _all_of(descriptor: int) -> bytes:
    length = os.fstat(descriptor).st_size
    content = os.read(descriptor, length + 1)
    if len(content) == length > 0:
        return content
    # A pipe, a file of the kernel's, one that grows, or one too large for one call.
    with open(descriptor, "rb", closefd=False) as file:
        return content + file.read()


def exists(path: Path) -> bool:
    """Whether there is a file or directory."""
    if is_remote(path):
        file_system, inner = _remote(path)
        return bool(file_system.exists(inner))
    return os.path.exists(local(path))


def isdir(path: Path) -> bool:
    """Whether there is a directory."""
    if is_remote(path):
        file_system, inner = _remote(path)
        return bool(file_system.isdir(inner))
    return os.path.isdir(local(path))


def stat(path: Path) -> FileStatistics:
    """Length, time of change and kind.

    Raises:
      NotFoundError: there is nothing.
    """
    with error_names(path):
        if not is_remote(path):
            found = os.stat(local(path))
            return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(local(path)))
        file_system, inner = _remote(path)
        info = file_system.info(inner)
    changed = info.get("mtime") or info.get("LastModified") or info.get("created") or 0
    seconds = changed.timestamp() if hasattr(changed, "timestamp") else float(changed)
    return FileStatistics(int(info["size"] or 0), int(seconds * 1e9), info["type"] == "directory")


def listdir(path: Path) -> list[str]:
    """The names in a directory, sorted.

    Raises:
      NotFoundError: there is no such directory.
    """
    with error_names(path):
        if is_remote(path):
            file_system, inner = _remote(path)
            found = file_system.ls(inner, detail=False)
            return sorted(name.rstrip("/").rpartition("/")[2] for name in found)
        return sorted(os.listdir(local(path) or "."))


# What Python's patterns write otherwise than those of fnmatch(3): an escape, a class's negation.
_OF_FNMATCH = re.compile(r"\\(.)|\[\^", re.DOTALL)


def glob(pattern: Path) -> list[str]:
    """The paths that match a shell pattern, sorted; as TensorFlow writes them.

    Relative paths begin with "./" unless the pattern has a directory before its first wildcard.
    Names that begin with a dot are found as others are.
    """
    if is_remote(pattern):
        file_system, inner = _remote(pattern)
        return sorted(str(file_system.unstrip_protocol(found)) for found in file_system.glob(inner))
    text = local(pattern)
    if text.endswith("/") or text in (".", ".."):  # which no directory lists
        return []
    python = _OF_FNMATCH.sub(lambda m: _glob.escape(m[1]) if m[1] else "[!", text)
    below = "" if "/" in re.split(r"[*?[\\]", text, maxsplit=1)[0] else "./"
    return sorted(below + found for found in _glob.glob(python, include_hidden=True))


def makedirs(path: Path) -> None:
    """Makes a directory and those above it; one that exists is left alone."""
    with error_names(path):
        if is_remote(path):
            file_system, inner = _remote(path)
            file_system.makedirs(inner, exist_ok=True)
        elif local(path):
            os.makedirs(local(path), exist_ok=True)


def remove(path: Path) -> None:
    """Removes a file.

    Raises:
      NotFoundError: there is none.
    """
    with error_names(path):
        if is_remote(path):
            file_system, inner = _remote(path)
            file_system.rm_file(inner)
        else:
            os.remove(local(path))


def remove_tree(path: Path) -> None:
    """Removes a directory with all that is in it.

    Raises:
      NotFoundError: there is none.
    """
    with error_names(path):
        if is_remote(path):
            file_system, inner = _remote(path)
            file_system.rm(inner, recursive=True)
        else:
            shutil.rmtree(local(path))


def replace(source: Path, target: Path) -> None:
    """Renames a file over another: readers see the old one or the new one.

    On remote file systems it is as atomic as the file system's own move.

    Raises:
      NotFoundError: there is no source.
    """
    with error_names(source):
        if not is_remote(source):
            os.replace(local(source), local(target))
            return
        file_system, inner = _remote(source)
        file_system.mv(inner, _remote(target)[1])


def write_atomically(path: Path, content: bytes, durable: bool = False) -> None:
    """Writes a small file so that readers see the old content or all of the new one.

    Args:
      path: the file.
      content: what it is to hold.
      durable: whether to wait until it is on the disk, where that is a local one.
    """
    beside = temporary(path)
    try:
        # Writing fails as well as opening does: a full disk is ResourceExhaustedError.
        with error_names(path), open_file(beside, "wb") as stream:
            stream.write(content)
            if durable and not is_remote(path):
                stream.flush()
                os.fsync(stream.fileno())
        replace(beside, path)
        if durable:
            sync_directory(os.path.dirname(os.fsdecode(path)))
    except BaseException:
        if exists(beside):
            remove(beside)
        raise


def temporary(path: Path) -> str:
    """A name beside `path` that no other writer takes; it tells which process made it."""
    token = f"{time.monotonic_ns() & 0xFFFFFFFF:08x}{os.urandom(2).hex()}"
    return f"{os.fsdecode(path)}.tempstate-{_host()}-{os.getpid()}-{token}"


def sweep_temporaries(directory: Path) -> None:
    """Removes what writers of this machine that were killed have left in a local directory."""
    if is_remote(directory):
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        _sweep(local(directory) or ".")


def _sweep(directory: str) -> None:
    for name in os.listdir(directory):
        made = _TEMPORARY.search(name)
        if made and made["host"] == _host() and not _alive(int(made["process"])):
            with suppress(FileNotFoundError):  # another process sweeps as well
                os.remove(os.path.join(directory, name))


_TEMPORARY = re.compile(r"\.tempstate-(?P<host>[0-9a-f]+)-(?P<process>\d+)-[0-9a-f]+$")


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def sync_directory(path: Path) -> None:
    """Makes the names in a local directory survive a loss of power."""
    if is_remote(path):
        return
    with error_names(path):
        descriptor = os.open(local(path) or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
