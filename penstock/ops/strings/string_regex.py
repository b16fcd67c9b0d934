"""Regular expressions over strings, by RE2: matching whole strings and replacing parts.

RE2 takes time linear in the text, and has neither look-around nor back-references in patterns.
Patterns and texts are UTF-8.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import re2
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, same_as
from penstock.ops.strings.string_elements import REASON, as_bytes, mapped, shown

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_REWRITE = re.compile(rb"\\(.?)", re.DOTALL)


def _compile(pattern: Any) -> Any:
    text = as_bytes(pattern)
    try:
        return re2.compile(text, _OPTIONS)
    except re2.error as error:
        why = error.args[0]  # bytes, as the pattern
        raise invalid(f"Invalid pattern: {shown(text)}, error: {shown(as_bytes(why))}") from None


# ---- matching ------------------------------------------------------------------------------------


def _full_match(input: Any, pattern: Any) -> torch.Tensor:
    compiled = _compile(pattern)
    array = np.asarray(input, dtype=object)
    flags = [compiled.fullmatch(text) is not None for text in array.ravel()]
    return torch.tensor(flags, dtype=torch.bool).reshape(array.shape)


def _pattern_shape(ctx: ShapeContext) -> Dims:
    for name in ("pattern", "rewrite"):
        if name in ctx.op.inputs_by_name():
            ctx.rank(name, 0)
    return ctx["input"]


define_op(
    "StaticRegexFullMatch",
    "input: string -> output: bool",
    attrs=["pattern: string"],
    shape=same_as("input"),
    kernel=_full_match,
    no_gradient=REASON,
)
define_op(
    "RegexFullMatch",
    "input: string, pattern: string -> output: bool",
    shape=_pattern_shape,
    kernel=_full_match,
    no_gradient=REASON,
)


# ---- replacing -----------------------------------------------------------------------------------


def _parsed(rewrite: bytes, groups: int) -> tuple[list[bytes | int], bool]:
    """Literal parts and numbers of groups, as many as there are; and whether all is well-formed."""
    parts: list[bytes | int] = []
    place = 0
    for found in _REWRITE.finditer(rewrite):
        parts.append(rewrite[place : found.start()])
        place, sign = found.end(), found[1]
        if sign.isdigit():
            if int(sign) <= groups:
                parts.append(int(sign))
        elif sign == b"\\":
            parts.append(b"\\")
        else:
            return parts, False
    parts.append(rewrite[place:])
    return parts, True


def _width(lead: int) -> int:
    """Bytes of the character that begins with that byte."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _replaced(compiled: Any, text: bytes, parts: list[bytes | int], everywhere: bool) -> bytes:
    made: list[bytes] = []
    place, last = 0, -1
    while (found := compiled.search(text, place)) is not None:
        start, end = found.span()
        made.append(text[place:start])
        if start == end == last:  # no empty match where the last match ended
            if start == len(text):
                place = start
                break
            place = start + _width(text[start])
            made.append(text[start:place])
            continue
        made += [p if isinstance(p, bytes) else found.group(p) or b"" for p in parts]
        place = last = end
        if not everywhere:
            break
    return b"".join([*made, text[place:]])


def _replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool) -> np.ndarray:
    compiled = _compile(pattern)
    parts, well_formed = _parsed(as_bytes(rewrite), compiled.groups)
    # As the RE2 of TensorFlow 1.15: a group that the pattern has not is empty (later ones replace
    # nothing then); a wrong rewrite replaces no single match, and of all matches each by what
    # stands before the wrong escape.
    if not (well_formed or replace_global):
        return np.array(input, dtype=object)
    return mapped(lambda text: _replaced(compiled, text, parts, replace_global), input)


define_op(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string -> output: string",
    attrs=["replace_global: bool = True"],
    shape=_pattern_shape,
    kernel=_replace,
    no_gradient=REASON,
)
define_op(
    "StaticRegexReplace",
    "input: string -> output: string",
    attrs=["pattern: string", "rewrite: string", "replace_global: bool = True"],
    shape=same_as("input"),
    kernel=_replace,
    no_gradient=REASON,
)


# ---- public functions ----------------------------------------------------------------------------


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether each string matches a regular expression as a whole.

    Args:
      input: string tensor.
      pattern: a string, or a string scalar tensor.

    Returns:
      A bool tensor of the shape of ``input``.
    """
    made: Tensor
    if isinstance(pattern, str | bytes):
        made = make("StaticRegexFullMatch", input, pattern=pattern, name=name)
    else:
        made = make("RegexFullMatch", input, pattern, name=name)
    return made


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Strings with what a regular expression matches replaced.

    Args:
      input: string tensor.
      pattern: a string, or a string scalar tensor: an expression as RE2 knows it.
      rewrite: what to put there; ``\\1`` to ``\\9`` stand for groups, ``\\0`` for the match.
      replace_global: every match, and not the first only.

    Returns:
      A string tensor of the shape of ``input``.

    Raises:
      tf.errors.InvalidArgumentError: when run, ``pattern`` is no such expression.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.regex_replace(["a1 b22"], "[0-9]+", "#")).tolist()
      [b'a# b#']
    """
    made: Tensor
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        made = make(
            "StaticRegexReplace", input, pattern=pattern, rewrite=rewrite,
            replace_global=replace_global, name=name,
        )  # fmt: skip
    else:
        made = make(
            "RegexReplace", input, pattern, rewrite, replace_global=replace_global, name=name
        )
    return made
