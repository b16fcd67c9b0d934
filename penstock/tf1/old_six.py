"""What programs use of ``six``, which TensorFlow 1.x brought along: Python 3's side of it."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterator
from io import BytesIO as BytesIO, StringIO as StringIO
from types import MethodType
from typing import Any, NoReturn

PY2, PY3, PY34 = False, True, True
MAXSIZE = sys.maxsize
string_types: tuple[type, ...] = (str,)
integer_types: tuple[type, ...] = (int,)
class_types: tuple[type, ...] = (type,)
text_type, binary_type = str, bytes
unichr, callable, print_ = chr, builtins.callable, print
exec_ = exec
next = advance_iterator = builtins.next
wraps = functools.wraps
create_bound_method = MethodType


def iterkeys(d: Any, **kw: Any) -> Iterator[Any]:
    """The keys of a dict, one by one; ``**kw`` goes to its method."""
    return iter(d.keys(**kw))


def itervalues(d: Any, **kw: Any) -> Iterator[Any]:
    """The values of a dict, one by one."""
    return iter(d.values(**kw))


def iteritems(d: Any, **kw: Any) -> Iterator[Any]:
    """The pairs of a dict, one by one."""
    return iter(d.items(**kw))


def viewkeys(d: Any) -> Any:
    """A view of a dict's keys."""
    return d.keys()


def viewvalues(d: Any) -> Any:
    """A view of a dict's values."""
    return d.values()


def viewitems(d: Any) -> Any:
    """A view of a dict's pairs."""
    return d.items()


def b(s: str) -> bytes:
    """Text of Latin-1 as bytes."""
    return s.encode("latin-1")


def u(s: str) -> str:
    """Text."""
    return s


def ensure_text(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Text or bytes as text.

    Raises:
      TypeError: for anything else.
    """
    if isinstance(s, bytes):
        return s.decode(encoding, errors)
    if isinstance(s, str):
        return s
    raise TypeError(f"not expecting type '{type(s)}'")


ensure_str = ensure_text


def ensure_binary(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Text or bytes as bytes.

    Raises:
      TypeError: for anything else.
    """
    if isinstance(s, str):
        return s.encode(encoding, errors)
    if isinstance(s, bytes):
        return s
    raise TypeError(f"not expecting type '{type(s)}'")


def int2byte(i: int) -> bytes:
    """One byte."""
    return bytes((i,))


def byte2int(bs: bytes) -> int:
    """The first byte's number."""
    return bs[0]


def indexbytes(buf: bytes, i: int) -> int:
    """The number of byte ``i``."""
    return buf[i]


def iterbytes(buf: bytes) -> Iterator[int]:
    """The numbers of bytes."""
    return iter(buf)


def add_metaclass(metaclass: type) -> Callable[[type], type]:
    """Makes a class anew with a metaclass: ``@six.add_metaclass(abc.ABCMeta)``."""

    def made(cls: type) -> type:
        slots = vars(cls).get("__slots__", ())
        own = {"__dict__", "__weakref__", *([slots] if isinstance(slots, str) else slots)}
        kept = {name: value for name, value in vars(cls).items() if name not in own}
        return metaclass(cls.__name__, cls.__bases__, kept)  # type: ignore[no-any-return]

    return made


def with_metaclass(meta: type, *bases: type) -> type:
    """A class to inherit from, for a class of that metaclass and those bases."""

    def made(name: str, _: Any, names: dict[str, Any]) -> Any:
        return meta(name, bases, names)

    between: Any = type("Between", (type,), {"__new__": lambda cls, *args: made(*args)})
    temporary: type = type.__new__(between, "temporary_class", (), {})
    return temporary


def python_2_unicode_compatible(klass: type) -> type:
    """The class as it is."""
    return klass


def get_function_code(func: Any) -> Any:
    """The code of a function."""
    return func.__code__


def get_method_function(meth: Any) -> Any:
    """The function of a bound method."""
    return meth.__func__


def get_unbound_function(unbound: Any) -> Any:
    """The function of a class's method, which is the function itself."""
    return unbound


def raise_from(value: BaseException, from_value: BaseException | None) -> NoReturn:
    """Raises an error with its cause."""
    raise value from from_value


def reraise(tp: Any, value: BaseException | None, tb: Any = None) -> NoReturn:
    """Raises an error with a traceback."""
    error = tp() if value is None else value
    raise error.with_traceback(tb)
