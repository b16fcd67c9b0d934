"""`tf.gfile` and `tf.io.gfile`: each name does what TensorFlow 1.15 was seen to do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from penstock.api import gfile, io_gfile
from penstock.foundation.base import errors

TEXT = "line1\nline2\nénd"
_numbers = itertools.count()


@pytest.fixture(params=["local", "memory"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty directory: on disk, and of a remote file system."""
    if request.param == "local":
        return str(tmp_path)
    url = f"memory://gfile{next(_numbers)}"
    gfile.MakeDirs(url)
    return url


def put(path: str, content: Any, mode: str = "w") -> None:
    with gfile.GFile(path, mode) as stream:
        stream.write(content)


def test_reading(base: str) -> None:
    path = f"{base}/a"
    put(path, TEXT)
    assert gfile.GFile(path).read() == TEXT
    assert gfile.GFile(path, "rb").read() == TEXT.encode()
    assert gfile.Open(path).read(3) == "lin"
    assert gfile.FastGFile(path).readline() == "line1\n"
    assert gfile.GFile(path).readlines() == ["line1\n", "line2\n", "énd"]
    assert list(gfile.GFile(path, "rb")) == [b"line1\n", b"line2\n", "énd".encode()]
    stream = gfile.GFile(path)
    assert (stream.next(), next(stream)) == ("line1\n", "line2\n")
    assert (stream.tell(), stream.size()) == (12, 16)
    assert (stream.name, stream.mode, stream.seekable()) == (path, "r", True)
    stream.close()
    assert stream.read() == TEXT, "a closed file is opened anew"


def test_seek(base: str) -> None:
    path = f"{base}/a"
    put(path, TEXT)
    stream = gfile.GFile(path, "rb")
    for arguments, then in [((2,), 2), ((3, 1), 5), ((-4, 2), 12), ((16,), 16)]:
        stream.seek(*arguments)
        assert stream.tell() == then
    stream.seek(position=1)
    assert stream.read(4) == b"ine1"
    with pytest.raises(errors.OutOfRangeError, match="position 100 .* end, 16"):
        stream.seek(100)
    with pytest.raises(errors.InvalidArgumentError, match="before the start"):
        stream.seek(-1)
    with pytest.raises(errors.InvalidArgumentError, match="Invalid whence argument: 3"):
        stream.seek(0, 3)
    with pytest.raises(TypeError, match="offset"):
        stream.seek()


def test_writing(base: str) -> None:
    path = f"{base}/a"
    put(path, "abc")
    put(path, b"x", "a")
    assert gfile.GFile(path, "r").read() == "abcx"
    put(path, "text", "wb")
    assert gfile.GFile(path, "rb").read() == b"text"
    with gfile.GFile(f"{base}/empty", "w"):
        pass
    assert gfile.GFile(f"{base}/empty").read() == ""
    stream = gfile.GFile(path, "w")
    stream.write("part")
    stream.flush()
    stream.close()
    assert gfile.GFile(path).read() == "part"
    with pytest.raises(TypeError, match="text or bytes"):
        gfile.GFile(f"{base}/n", "w").write(3)


@pytest.mark.parametrize("mode", ["r+", "w+", "a+"])
def test_what_was_flushed_can_be_read(base: str, mode: str) -> None:
    stream = gfile.GFile(f"{base}/new", mode)
    stream.write("testing")
    stream.flush()
    assert (stream.read(), stream.tell(), stream.size()) == ("testing", 7, 7)
    stream.seek(4)
    assert stream.read() == "ing"
    stream.close()


@pytest.mark.parametrize(
    ("mode", "rest", "left"),
    [("r+", "", "XY"), ("w+", "", "XY"), ("a+", "\nline2\nXY", "old\nline2\nXY")],
)
def test_only_writing_empties_a_file(tmp_path: Path, mode: str, rest: str, left: str) -> None:
    path = str(tmp_path / "a")
    put(path, "old\nline2\n")
    stream = gfile.GFile(path, mode)
    assert (stream.tell(), stream.read(3), stream.tell()) == (0, "old", 3)
    stream.write("XY")
    stream.flush()
    assert stream.tell() == 3
    assert stream.read() == rest
    stream.close()
    assert gfile.GFile(path).read() == left


@pytest.mark.parametrize("mode", ["w", "a", "r+", "w+", "a+"])
def test_a_file_to_which_nothing_is_written_stays(tmp_path: Path, mode: str) -> None:
    path = str(tmp_path / "a")
    put(path, "abc")
    with gfile.GFile(path, mode):
        pass
    assert gfile.GFile(path).read() == "abc"


def test_what_is_not_flushed_is_not_read(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    put(path, "abc")
    for mode, seen, left in (("a+", "abc", "abcd"), ("w+", "", "d"), ("r+", "", "d")):
        with gfile.GFile(path, mode) as stream:
            stream.write("d")
            assert stream.read() == seen
            stream.seek(0)
            assert stream.read() == seen
        assert gfile.GFile(path).read() == left


def test_modes_are_held(base: str) -> None:
    path = f"{base}/a"
    put(path, TEXT)
    with pytest.raises(errors.PermissionDeniedError, match="isn't open for writing"):
        gfile.GFile(path).write("x")
    with pytest.raises(errors.PermissionDeniedError, match="isn't open for reading"):
        gfile.GFile(f"{base}/w", "w").read()
    with pytest.raises(errors.InvalidArgumentError, match="mode is not"):
        gfile.GFile(path, "zz")


@given(st.text(), st.lists(st.integers(0, 5), max_size=6))
def test_counts_are_characters_in_text_modes(text: str, counts: list[int]) -> None:
    url = f"memory://gfile-characters/{next(_numbers)}"
    put(url, text)
    stream = gfile.GFile(url)
    at = 0
    for count in counts:
        assert stream.read(count) == text[at : at + count]
        at = min(at + count, len(text))
    assert stream.read() == text[at:]


MISSING: list[tuple[Callable[[str], Any], type[Exception], str]] = [
    (lambda p: gfile.Open(p).read(), errors.NotFoundError, "nope"),
    (lambda p: gfile.Open(p).size(), errors.NotFoundError, "nope"),
    (gfile.ListDirectory, errors.NotFoundError, "Could not find directory"),
    (gfile.Remove, errors.NotFoundError, "nope"),
    (gfile.Stat, errors.NotFoundError, "nope"),
    (gfile.DeleteRecursively, errors.NotFoundError, "not found"),
    (lambda p: gfile.Copy(p, p + "2"), errors.NotFoundError, "nope"),
    (lambda p: gfile.Copy(p, p), errors.NotFoundError, "nope"),
    (lambda p: gfile.Rename(p, p + "2"), errors.NotFoundError, "nope"),
]


@pytest.mark.parametrize(("call", "error", "said"), MISSING)
def test_what_is_not_there(base: str, call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call(f"{base}/nope")
    assert not gfile.Exists(f"{base}/nope")
    assert not gfile.Exists(f"{base}/nope2")
    assert not gfile.IsDirectory(f"{base}/nope")
    assert gfile.Glob(f"{base}/nope*") == []
    assert list(gfile.Walk(f"{base}/nope")) == []


def test_directories(base: str) -> None:
    gfile.MkDir(f"{base}/m")
    gfile.MkDir(f"{base}/m")
    gfile.MakeDirs(f"{base}/m/x/y")
    gfile.MakeDirs(f"{base}/m/x/y")
    put(f"{base}/a", "abc")
    put(f"{base}/m/b", "abc")
    gfile.MakeDirs(f"{base}/a")
    assert gfile.IsDirectory(f"{base}/m") and not gfile.IsDirectory(f"{base}/a")
    assert gfile.ListDirectory(base) == ["a", "m"]
    assert [gfile.Stat(f"{base}/a").length, gfile.Stat(f"{base}/a").is_directory] == [3, False]
    assert gfile.Stat(f"{base}/m").is_directory
    rows = [
        (base, ["m"], ["a"]), (f"{base}/m", ["x"], ["b"]), (f"{base}/m/x", ["y"], []),
        (f"{base}/m/x/y", [], []),
    ]  # fmt: skip
    assert list(gfile.Walk(base)) == rows
    assert list(gfile.Walk(base, in_order=False)) == rows[::-1]
    ends = [path.rpartition("/")[2] for path in gfile.Glob([f"{base}/m*", f"{base}/a"])]
    assert ends == ["m", "a"]
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        gfile.Remove(f"{base}/m")
    with pytest.raises(errors.FailedPreconditionError, match="Not a directory"):
        gfile.DeleteRecursively(f"{base}/a")
    with pytest.raises(errors.NotFoundError, match="Could not find directory"):
        gfile.ListDirectory(f"{base}/a")
    gfile.DeleteRecursively(f"{base}/m")
    assert gfile.ListDirectory(base) == ["a"]


def test_a_directory_needs_its_parent(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match="No such file or directory"):
        gfile.MkDir(f"{tmp_path}/no/such")


def test_reading_a_directory(tmp_path: Path) -> None:
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        gfile.GFile(str(tmp_path)).read()


def test_copy_and_rename(base: str) -> None:
    a, b = f"{base}/a", f"{base}/b"
    put(a, "abc")
    gfile.Copy(a, b)
    with pytest.raises(errors.AlreadyExistsError, match="already exists"):
        gfile.Copy(a, b)
    put(a, "new")
    gfile.Copy(a, b, overwrite=True)
    assert gfile.GFile(b).read() == "new"
    with pytest.raises(errors.AlreadyExistsError, match="already exists"):
        gfile.Rename(b, a)
    put(b, "moved")
    gfile.Rename(b, a, overwrite=True)
    assert gfile.GFile(a).read() == "moved" and not gfile.Exists(b)


def test_between_file_systems(tmp_path: Path) -> None:
    remote = f"memory://gfile{next(_numbers)}/there"
    put(f"{tmp_path}/a", TEXT)
    gfile.Copy(f"{tmp_path}/a", remote)
    gfile.Copy(remote, f"{tmp_path}/b")
    assert (tmp_path / "b").read_text(encoding="utf-8") == TEXT


def test_kinds_of_paths(tmp_path: Path) -> None:
    put(tmp_path / "a", "x")  # type: ignore[arg-type]
    assert gfile.Exists(str(tmp_path / "a").encode()) and gfile.Exists(tmp_path / "a")
    with pytest.raises(TypeError, match="None"):
        gfile.Exists(None)


def test_newer_names(base: str) -> None:
    io_gfile.mkdir(f"{base}/d")
    io_gfile.makedirs(f"{base}/d/e")
    with io_gfile.GFile(f"{base}/d/f", "w") as stream:
        stream.write("1")
    assert io_gfile.exists(f"{base}/d/f") and io_gfile.isdir(f"{base}/d/e")
    assert io_gfile.listdir(f"{base}/d") == ["e", "f"]
    assert io_gfile.stat(f"{base}/d/f").length == 1
    io_gfile.copy(f"{base}/d/f", f"{base}/d/g")
    io_gfile.rename(f"{base}/d/g", f"{base}/d/h")
    assert [p.rpartition("/")[2] for p in io_gfile.glob(f"{base}/d/[fgh]")] == ["f", "h"]
    io_gfile.remove(f"{base}/d/h")
    rows = [(f"{base}/d", ["e"], ["f"]), (f"{base}/d/e", [], [])]
    assert list(io_gfile.walk(f"{base}/d")) == rows
    assert list(io_gfile.walk(f"{base}/d", topdown=False))[-1][0] == f"{base}/d"
    io_gfile.rmtree(f"{base}/d")
    assert not io_gfile.exists(f"{base}/d")
    seen: list[Exception] = []
    assert list(io_gfile.walk(f"{base}/d", onerror=seen.append)) == []
    assert isinstance(seen[0], errors.NotFoundError)


def test_a_link_to_a_directory_is_not_removed_as_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(errors.FailedPreconditionError, match="Not a directory"):
        gfile.DeleteRecursively(str(tmp_path / "link"))
    assert (tmp_path / "real").is_dir()
