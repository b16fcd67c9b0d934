"""Lookup tables, each op on a fresh table; longer programs: tests/training/data/test_lookup.py."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import OpCase, feed, made, strings

_FORMS = ("", "V2")
_TYPES = {"key_dtype": "string", "value_dtype": "int64"}
_WORDS, _IDS = strings(["a", "b"]), feed([1, 2], "int64")
_NONE = feed(-1, "int64")


def _table(kind, form="V2", **attrs):
    return made(kind + form, **{**_TYPES, **attrs})


def _vectors(**attrs):
    return _table("MutableHashTableOfTensors", value_shape=[2], **attrs)


def _rows():
    for form in _FORMS:
        static, mutable = _table("HashTable", form), _table("MutableHashTable", form)
        yield OpCase("LookupTableSize" + form, [static])
        yield OpCase("LookupTableSize" + form, [mutable])
        yield OpCase("LookupTableFind" + form, [static, _WORDS, _NONE], raises=True)
        yield OpCase("LookupTableFind" + form, [mutable, _WORDS, _NONE])
        yield OpCase("LookupTableFind" + form, [mutable, strings([["a"], ["b"]]), _NONE])
        yield OpCase("LookupTableFind" + form, [mutable, _IDS, _NONE], raises=True)
        yield OpCase(
            "LookupTableFind" + form, [mutable, _WORDS, feed([1, 2, 3], "int64")], raises=True
        )
        yield OpCase("InitializeTable" + form, [static, _WORDS, _IDS])
        yield OpCase("InitializeTable" + form, [mutable, _WORDS, _IDS], raises=True)
        yield OpCase("InitializeTable" + form, [static, strings(["a", "a"]), _IDS], raises=True)
        yield OpCase("InitializeTable" + form, [static, _WORDS, feed([1], "int64")], raises=True)
        yield OpCase("InitializeTable" + form, [static, _WORDS, feed([1, 2], "int32")], raises=True)
        yield OpCase("LookupTableImport" + form, [static, _WORDS, _IDS])
        yield OpCase("LookupTableImport" + form, [mutable, _WORDS, _IDS])
        yield OpCase("LookupTableImport" + form, [static, _WORDS, feed([1], "int64")], raises=True)
        nothing = [feed(np.zeros(0, object), "string"), feed(np.zeros(0), "int64")]
        yield OpCase("LookupTableImport" + form, [static, *nothing], raises=True)
        yield OpCase("LookupTableImport" + form, [mutable, *nothing])
        yield OpCase("LookupTableInsert" + form, [static, _WORDS, _IDS], raises=True)
        yield OpCase("LookupTableInsert" + form, [mutable, _WORDS, _IDS])
        yield OpCase("LookupTableInsert" + form, [mutable, _WORDS, feed([1], "int64")], raises=True)
        types = {"Tkeys": "string", "Tvalues": "int64"}
        yield OpCase("LookupTableExport" + form, [static], types, raises=True)
        yield OpCase("LookupTableExport" + form, [mutable], types, oracle="tf1")
        attrs = {"key_index": -2, "value_index": -1}
        missing = [static, strings("/nowhere/words.txt")]
        yield OpCase("InitializeTableFromTextFile" + form, missing, attrs, raises=True)
    yield OpCase("LookupTableRemoveV2", [_table("MutableHashTable"), _WORDS])
    yield OpCase("LookupTableRemoveV2", [_table("HashTable"), _WORDS], raises=True)
    floats = {"value_dtype": "float32"}
    pair = feed([1.0, 2.0], "float32")
    yield OpCase("LookupTableFindV2", [_vectors(**floats), _WORDS, pair])
    yield OpCase("LookupTableFindV2", [_vectors(**floats), strings([["a"], ["b"]]), pair])
    yield OpCase(
        "LookupTableInsertV2", [_vectors(**floats), _WORDS, feed([[1, 2], [3, 4]], "float32")]
    )
    yield OpCase("LookupTableInsertV2", [_vectors(**floats), _WORDS, pair], raises=True)
    yield OpCase(
        "LookupTableExportV2",
        [_vectors(**floats)],
        {"Tkeys": "string", "Tvalues": "float32"},
        oracle="tf1",
    )


CASES = list(_rows())
