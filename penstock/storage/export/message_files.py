"""Messages in files, binary or text; writing is atomic."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from penstock.foundation.formats import files

M = TypeVar("M")

# In text, TensorFlow writes an Any as the message in it, under a name that only its own process
# knows; here the same message goes by `tensorboard`'s name.
_THEIR_ANY, _OUR_ANY = "[type.googleapis.com/tensorflow.", "[type.googleapis.com/tensorboard."
_THEIR_URL, _OUR_URL = _THEIR_ANY[1:], _OUR_ANY[1:]


def read_message(path: Any, kind: type[M]) -> M:
    """Reads a message from a binary or text file.

    Raises:
      OSError: there is no such file, or neither form can be parsed.
    """
    name = os.fsdecode(path)
    if not files.exists(name):
        raise OSError(f"File {name} does not exist.")
    with files.open_file(name, "rb") as stream:
        content = stream.read()
    return parse_message(content, kind, name)


def parse_message(content: bytes, kind: type[M], name: str) -> M:
    """The message in the bytes of a file called ``name``; OSError when there is none."""
    message: Any = kind()
    try:
        message.ParseFromString(content)
        return message  # type: ignore[no-any-return]
    except DecodeError:
        message.Clear()
    try:
        text = content.decode()
        text_format.Merge(text.replace(_THEIR_ANY, _OUR_ANY), message)
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(
            f"Cannot parse file {name} as a {message.DESCRIPTOR.name}, neither binary nor text:"
            f" {error}"
        ) from None
    _restore_any_names(message)
    return message  # type: ignore[no-any-return]


def _restore_any_names(message: Any) -> None:
    for meta_graph in getattr(message, "meta_graphs", None) or [message]:
        for definition in getattr(meta_graph, "collection_def", {}).values():
            for item in definition.any_list.value if definition.HasField("any_list") else ():
                item.type_url = item.type_url.replace(_OUR_URL, _THEIR_URL)


def message_bytes(message: Any, as_text: bool) -> bytes:
    """What the file of a message holds."""
    if as_text:
        return text_format.MessageToString(message).encode()
    data: bytes = message.SerializeToString()
    return data


def write_message(path: Any, message: Any, as_text: bool) -> None:
    """Writes a message; readers see the old file or all of the new one."""
    files.write_atomically(path, message_bytes(message, as_text))
