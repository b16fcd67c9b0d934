"""``tf.logging``: the log of programs and of Penstock itself, by the standard ``logging``.

The logger is called ``tensorflow``, as programs and their configuration know it, and Penstock's own
loggers stand below it: one verbosity holds for both, and one handler writes both.

State: whether the handler is there. It is added when something is first logged, and only where
the root logger has none, so that a program which sets up logging itself gets each line once.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import Counter
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "TaskLevelStatusMessage", "WARN", "debug", "error", "fatal",
    "flush", "get_logger", "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if",
    "set_verbosity", "vlog", "warn", "warning",
]  # fmt: skip

_NAME = "tensorflow"
_OWN = "penstock"
_ALL = (_NAME, _OWN)
_lock = threading.Lock()
_ready = False
# How often each line of a program has called ``log_every_n`` or ``log_first_n``.
_calls: Counter[tuple[str, int]] = Counter()


class _Formatter(logging.Formatter):
    """Lines as ``INFO:tensorflow:...``, also those of Penstock: they are about steps and hooks."""

    def format(self, record: logging.LogRecord) -> str:
        name = record.name
        if name.partition(".")[0] == _OWN:
            record.name = _NAME
        try:
            return super().format(record)
        finally:
            record.name = name


class _FirstUse(logging.Handler):
    """Sets up the log when Penstock itself writes to it first."""

    def handle(self, record: logging.LogRecord) -> bool:
        get_logger()
        return True


def is_of_program(record: logging.LogRecord) -> bool:
    """Whether a line of a log came by the logger of programs, or is Penstock's own."""
    return record.name.partition(".")[0] in _ALL


def get_logger() -> logging.Logger:
    """The logger of programs, set up to write to stderr.

    Returns:
      The logger called ``tensorflow``. In an interactive Python it writes to stdout, from INFO on.
    """
    global _ready
    logger = logging.getLogger(_NAME)
    if _ready:
        return logger
    with _lock:
        if not _ready and not logging.getLogger().handlers:
            interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
            if interactive:
                logger.setLevel(INFO)
            handler = logging.StreamHandler(sys.stdout if interactive else sys.stderr)
            handler.setFormatter(_Formatter(logging.BASIC_FORMAT))
            logger.addHandler(handler)
        _ready = True
    return logger


def _write(level: int, msg: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    # The line of the log is that of the caller of the public function.
    kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 2
    get_logger().log(level, msg, *args, **kwargs)


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args``.

    Args:
      level: such as ``tf.logging.INFO``.
      msg: the text, with ``%`` formats.
      *args: what they format.
      **kwargs: as ``logging.Logger.log`` has.
    """
    _write(level, msg, args, kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args``, as ``log`` does."""
    _write(level, msg, args, kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` for who looks for a mistake."""
    _write(DEBUG, msg, args, kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args``: what goes on. Shown after ``tf.logging.set_verbosity(INFO)``.

    Args:
      msg: text, with places for ``args`` as of Python's ``%``.
      *args: what goes there, made text only where it is shown.

    Example:
      >>> import penstock as tf
      >>> tf.logging.set_verbosity(tf.logging.INFO)
      >>> tf.logging.info("step %d: loss %.2f", 100, 0.25)  # on stderr
      >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    _write(INFO, msg, args, kwargs)


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` as a warning."""
    _write(WARN, msg, args, kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` as a warning."""
    _write(WARN, msg, args, kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` as an error."""
    _write(ERROR, msg, args, kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs ``msg % args`` as the gravest error; the program goes on.

    Args:
      msg: text, with places for ``args`` as of Python's ``%``.
      *args: what goes there.

    Example:
      >>> import penstock as tf
      >>> tf.logging.fatal("no checkpoint in %s", "/tmp/model")  # on stderr; the program goes on
    """
    _write(FATAL, msg, args, kwargs)


def TaskLevelStatusMessage(msg: Any) -> None:
    """Logs ``msg`` as an error."""
    _write(ERROR, msg, (), {})


def flush() -> None:
    """Writes out what handlers still hold. (TensorFlow 1.15 raises NotImplementedError.)"""
    for handler in [*get_logger().handlers, *logging.getLogger().handlers]:
        handler.flush()


def _earlier_calls() -> int:
    """How often the line that called the public function has done so before."""
    caller = sys._getframe(2)
    place = (caller.f_code.co_filename, caller.f_lineno)
    with _lock:
        _calls[place] += 1
        return _calls[place] - 1


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs ``msg % args`` at the first of every ``n`` calls of the same line.

    Args:
      level: such as ``tf.logging.INFO``.
      msg: the text, with ``%`` formats.
      n: how many calls.
      *args: what they format.
    """
    if _earlier_calls() % n == 0:
        _write(level, msg, args, {})


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs ``msg % args`` at the first ``n`` calls of the same line.

    Args:
      level: such as ``tf.logging.INFO``.
      msg: the text, with ``%`` formats.
      n: how many calls.
      *args: what they format.
    """
    if _earlier_calls() < n:
        _write(level, msg, args, {})


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs ``msg % args`` where ``condition`` is true.

    Args:
      level: such as ``tf.logging.INFO``.
      msg: the text, with ``%`` formats.
      condition: whether to log.
      *args: what they format.
    """
    if condition:
        _write(level, msg, args, {})


def get_verbosity() -> int:
    """The level from which on messages are shown."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Shows messages from a level on, of the program and of Penstock.

    Args:
      v: the level, such as ``tf.logging.INFO``.

    Example:
      >>> import penstock as tf
      >>> tf.logging.set_verbosity(tf.logging.ERROR)
      >>> tf.logging.warn("not shown")
      >>> tf.logging.set_verbosity("WARN")
      >>> tf.logging.get_verbosity() == tf.logging.WARN
      True
    """
    get_logger().setLevel(v)


def _adopt() -> None:
    own = logging.getLogger(_OWN)
    own.parent = logging.getLogger(_NAME)
    if not any(isinstance(handler, _FirstUse) for handler in own.handlers):
        own.addHandler(_FirstUse())


_adopt()
