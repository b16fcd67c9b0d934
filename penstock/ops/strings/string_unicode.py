"""Unicode: the scripts that characters belong to, and text in other encodings.

Encodings are those of Python's codecs; text goes out as UTF-8, UTF-16-BE or UTF-32-BE.  Scripts are
RE2's (its ``\\p{Greek}``), numbered as in ICU.
"""

from __future__ import annotations

import codecs
import functools
from typing import Any

import numpy as np
import re2
import torch

from penstock.foundation.base.errors import invalid
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import same_as
from penstock.ops.strings.string_elements import REASON, mapped, shown

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


# ---- scripts -------------------------------------------------------------------------------------

# In ICU's order; "." stands for a code that no character has.
_SCRIPTS = """
    Common Inherited Arabic Armenian Bengali Bopomofo Cherokee Coptic Cyrillic Deseret Devanagari
    Ethiopic Georgian Gothic Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana
    Khmer Lao Latin Malayalam Mongolian Myanmar Ogham Old_Italic Oriya Runic Sinhala Syriac Tamil
    Telugu Thaana Thai Tibetan Canadian_Aboriginal Yi Tagalog Hanunoo Buhid Tagbanwa Braille Cypriot
    Limbu Linear_B Osmanya Shavian Tai_Le Ugaritic . Buginese Glagolitic Kharoshthi Syloti_Nagri
    New_Tai_Lue Tifinagh Old_Persian Balinese Batak . Brahmi Cham . . . . Egyptian_Hieroglyphs . . .
    Pahawh_Hmong Old_Hungarian . Javanese Kayah_Li . . Lepcha Linear_A Mandaic .
    Meroitic_Hieroglyphs Nko Old_Turkic Old_Permic Phags_Pa Phoenician Miao . . . . . . Vai .
    Cuneiform . . Carian . Tai_Tham Lycian Lydian Ol_Chiki Rejang Saurashtra SignWriting Sundanese .
    Meetei_Mayek Imperial_Aramaic Avestan Chakma . Kaithi Manichaean Inscriptional_Pahlavi
    Psalter_Pahlavi . Inscriptional_Parthian Samaritan Tai_Viet . . Bamum Lisu . Old_South_Arabian
    Bassa_Vah Duployan Elbasan Grantha . . Mende_Kikakui Meroitic_Cursive Old_North_Arabian
    Nabataean Palmyrene Khudawadi Warang_Citi . . Mro Nushu Sharada Sora_Sompeng Takri Tangut .
    Anatolian_Hieroglyphs Khojki Tirhuta Caucasian_Albanian Mahajani Ahom Hatran Modi Multani
    Pau_Cin_Hau Siddham Adlam Bhaiksuki Marchen Newa Osage . . . Masaram_Gondi Soyombo
    Zanabazar_Square Dogra Gunjala_Gondi Makasar Medefaidrin Hanifi_Rohingya Sogdian Old_Sogdian
    Elymaic Nyiakeng_Puachue_Hmong Nandinagari Wancho Chorasmian Dives_Akuru Khitan_Small_Script
    Yezidi Cypro_Minoan Old_Uyghur Tangsa Toto Vithkuqi Kawi Nag_Mundari
""".split()
_UNKNOWN = 103


def _compiled(scripts: tuple[str, ...]) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile("[" + "".join(rf"\p{{{script}}}" for script in scripts) + "]", options)


@functools.cache
def _known_scripts() -> tuple[str, ...]:
    """The scripts that this RE2 knows."""
    found = []
    for script in _SCRIPTS:
        try:
            _compiled((script,))
        except re2.error:  # a gap, or a newer script
            continue
        found.append(script)
    return tuple(found)


@functools.cache
def _among(first: int, last: int) -> Any:
    return _compiled(_known_scripts()[first:last])


@functools.lru_cache(maxsize=1 << 16)
def _script(code: int) -> int:
    if not 0 <= code <= _LAST:
        return -1
    first, last = 0, len(_known_scripts())
    if code in _SURROGATES or not _among(first, last).match(chr(code)):
        return _UNKNOWN
    while last - first > 1:
        middle = (first + last) // 2
        if _among(first, middle).match(chr(code)):
            last = middle
        else:
            first = middle
    return _SCRIPTS.index(_known_scripts()[first])


def _unicode_script(input: Any) -> Any:
    codes = [_script(code) for code in input.reshape(-1).tolist()]
    return torch.tensor(codes, dtype=torch.int32).reshape(input.shape)


define_op(
    "UnicodeScript",
    "input: int32 -> output: int32",
    shape=same_as("input"),
    kernel=_unicode_script,
    no_gradient="a function of integers",
)


# ---- encodings -----------------------------------------------------------------------------------

# What stands for bytes that are no text while they are looked for: no decoded text contains it.
_MARK = 0xDFFF
_MARKING = "penstock.mark"
_CONTROLS = range(0x20)
# Codecs of Python's that are no encodings of text elsewhere.
_NO_ENCODINGS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-8-sig"}
# Encodings whose byte order a mark at the start tells; without one, the first byte is the high one.
_ORDER_MARKS = {
    "utf-16": ("utf-16-be", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
    "utf-32": ("utf-32-be", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
}


def _marked(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(_MARK), error.end


codecs.register_error(_MARKING, _marked)


def codec_of(encoding: str) -> str:
    """Python's name of an encoding of text."""
    try:
        "".encode(encoding)
        found = codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        found = ""
    if not found or found in _NO_ENCODINGS:
        raise invalid(
            f"Could not create converter for input encoding: {encoding}; allowed are the encodings"
            " of text that Python's codecs know"
        )
    return found


def _decoded(text: bytes, codec: str) -> str:
    unmarked, marks = _ORDER_MARKS.get(codec, (codec, (b"",)))
    return text.decode(codec if text.startswith(marks) else unmarked, _MARKING)


def _transcode(
    input: Any, input_encoding: str, output_encoding: str, errors: str, replacement_char: int,
    replace_control_characters: bool,
) -> np.ndarray:  # fmt: skip
    codec = codec_of(input_encoding)
    if not 0 <= replacement_char <= _LAST or replacement_char in _SURROGATES:
        raise invalid(
            "replacement_char must be a Unicode scalar value, 0 to 0x10FFFF without surrogates;"
            f" found {replacement_char:#x}"
        )
    wrong = [_MARK, *(_CONTROLS if replace_control_characters else ())]
    instead = dict.fromkeys(wrong, "" if errors == "ignore" else chr(replacement_char))

    def one(text: bytes) -> bytes:
        found = _decoded(text, codec)
        if errors == "strict" and any(chr(code) in found for code in wrong):
            raise invalid(f"Invalid formatting on input string {shown(text)!r} ({input_encoding})")
        return found.translate(instead).encode(output_encoding)

    return mapped(one, input)


define_op(
    "UnicodeTranscode",
    "input: string -> output: string",
    attrs=[
        "input_encoding: string",
        "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}",
        "errors: {'strict', 'replace', 'ignore'} = 'replace'",
        "replacement_char: int = 65533",
        "replace_control_characters: bool = False",
    ],
    shape=same_as("input"),
    kernel=_transcode,
    no_gradient=REASON,
)


# ---- public functions ----------------------------------------------------------------------------


def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The scripts that code points belong to, numbered as ICU's ``UScriptCode``.

    Args:
      input: int32 code points.

    Returns:
      int32 of the same shape: 25 for Latin, 0 for what all scripts share, 103 for what none has,
      and -1 for what is no code point.
    """
    return make("UnicodeScript", input, name=name)


def unicode_transcode(
    input: Any, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char: int = 65533, replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Text in another encoding.

    Args:
      input: strings.
      input_encoding: the encoding that they are in, by a name that Python's codecs know.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: "replace" bytes that are no text, "ignore" them, or refuse them ("strict").
      replacement_char: code point that stands for what is replaced.
      replace_control_characters: whether U+0000 to U+001F are taken for errors as well.

    Returns:
      Strings of the same shape.

    Raises:
      ValueError: an output encoding or ``errors`` that is not allowed.
      InvalidArgumentError: when it is run, an unknown encoding, or, where that is strict, bytes
        that are no text.
    """
    return make(
        "UnicodeTranscode", input, input_encoding=input_encoding,
        output_encoding=output_encoding, errors=errors, replacement_char=replacement_char,
        replace_control_characters=replace_control_characters, name=name,
    )  # fmt: skip
