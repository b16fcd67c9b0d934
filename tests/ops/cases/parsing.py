"""Rows for strings made into numbers and tensors, for examples, and for readers."""

from __future__ import annotations

from tests.ops.opcase import OpCase, const, feed, made, real, strings

# Examples {x: int64 [3, 4]} and {x: int64 [5, 6]}, an empty one, and a feature list of x as int64.
INTS = b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\n\x02\x03\x04"
OTHER = b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\n\x02\x05\x06"
NONE = b""
LISTS = (
    b"\x12\x19\n\x17\n\x01t\x12\x12\n\x07\x1a\x05\n\x03\x01\x02\x03\n\x07\x1a\x05\n\x03\x04\x05\x06"
)
BOTH = INTS + LISTS
# Tensors: float32 [1, 2], and string ["a"].
FLOATS = b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40"
TEXT = b"\x08\x07\x12\x04\x12\x02\x08\x01\x42\x01a"

CASES = [
    OpCase("DecodeRaw", [strings(["abcdefgh", "ijklmnop"])], {"out_type": "T"},
           ("uint8", "int16", "int32", "int64", "half", "float32", "float64"),
           type_attr="out_type"),
    OpCase("DecodeRaw", [strings("abcdefgh")], {"out_type": "int32", "little_endian": False}),
    OpCase("DecodeRaw", [strings(["", ""])], {"out_type": "uint8"}),
    OpCase("DecodeRaw", [strings(["a", "bc"])], {"out_type": "uint8"}, raises=True),
    OpCase("DecodeRaw", [strings("abc")], {"out_type": "int16"}, raises=True),
    OpCase("StringToNumber", [strings([["1", " -2 "], ["3", "40"]])], {"out_type": "T"},
           ("float32", "float64", "int32", "int64"), type_attr="out_type"),
    OpCase("StringToNumber", [strings(["1e-3", "inf", ".5", "-7.25"])], {"out_type": "float32"}),
    OpCase("StringToNumber", [strings("1_0")], {"out_type": "int32"}, raises=True),
    OpCase("StringToNumber", [strings("2147483648")], {"out_type": "int32"}, raises=True),
    OpCase("DecodeCSV", [strings(["1,a,2.5", '7,"x ""y"", z",']),
                         [const([0]), const(["-"], "string"), const([1.5], "float32")]]),
    OpCase("DecodeCSV", [strings("1;NA;3"), [const([0]), const([9], "int64")]],
           {"field_delim": ";", "na_value": "NA", "select_cols": [0, 1]}),
    OpCase("DecodeCSV", [strings('a"b,c'), [const([""], "string"), const([""], "string")]],
           {"use_quote_delim": False}),
    OpCase("DecodeCSV", [strings("1,2"), [const([0])]], raises=True),
    OpCase("DecodeCSV", [strings("x"), [const([0])]], raises=True),
    OpCase("DecodeCSV", [strings('a"b'), [const([""], "string")]], raises=True),
    OpCase("DecodeCSV", [strings(","), [const([0]), feed([], "int32")]], raises=True),
    OpCase("DecodeJSONExample",
           [strings(['{"features": {"feature": {"s": {"bytesList": {"value": ["YQ=="]}}}}}',
           "{}"])]),
    OpCase("DecodeJSONExample", [strings("{")], raises=True),
    OpCase("SerializeTensor", [real(2, 3)], {}, ("float32", "int64", "bool", "string")),
    OpCase("SerializeTensor", [real()], {}, ("float32", "int32")),
    OpCase("ParseTensor", [strings(FLOATS)], {"out_type": "float32"}),
    OpCase("ParseTensor", [strings(TEXT)], {"out_type": "string"}),
    OpCase("ParseTensor", [strings(FLOATS)], {"out_type": "int32"}, raises=True),
    OpCase("ParseTensor", [strings("\xff")], {"out_type": "int32"}, raises=True),
    OpCase("ParseExample", [strings([INTS, NONE, OTHER]), strings([]), [], [strings("x")],
                            [feed([8, 9], "int64")]],
           {"sparse_types": [], "dense_shapes": [[2]]}),
    OpCase("ParseExample", [strings([INTS, NONE, OTHER]), strings(["a", "b", "c"]),
                            [strings("x"), strings("y")], [], []],
           {"sparse_types": ["int64", "string"], "dense_shapes": []}),
    OpCase("ParseExample", [strings([NONE]), strings([]), [], [strings("x")],
                            [feed([], "int64")]],
           {"sparse_types": [], "dense_shapes": [[2]]}, raises=True),
    OpCase("ParseSingleExample", [strings(INTS), [feed([8, 9], "int64")]],
           {"num_sparse": 1, "sparse_keys": ["y"], "dense_keys": ["x"], "sparse_types": ["int64"],
            "dense_shapes": [[2]]}),
    OpCase("ParseSingleExample", [strings(INTS), [feed([], "float32")]],
           {"num_sparse": 0, "sparse_keys": [], "dense_keys": ["x"], "sparse_types": [],
            "dense_shapes": [[2]]}, raises=True),
    OpCase("ParseSequenceExample", [strings([BOTH, INTS]), strings([]), [feed([1, 1], "int64")]],
           {"feature_list_dense_missing_assumed_empty": ["t"], "context_sparse_keys": [],
            "context_dense_keys": ["x"], "feature_list_sparse_keys": ["s"],
            "feature_list_dense_keys": ["t"], "Nfeature_list_sparse": 1, "Nfeature_list_dense": 1,
            "Ncontext_dense": 1, "context_dense_shapes": [[2]],
            "feature_list_sparse_types": ["int64"],
            "feature_list_dense_types": ["int64"], "feature_list_dense_shapes": [[3]]}),
    OpCase("ParseSingleSequenceExample",
           [strings(BOTH), strings([]), [strings("x")], [], [strings("t")], [strings("t")], [],
            strings("")],
           {"context_sparse_types": ["int64"], "feature_list_sparse_types": ["int64"],
            "feature_list_dense_types": ["int64"], "feature_list_dense_shapes": [[3]]}),
    OpCase("ReaderNumRecordsProducedV2", [made("IdentityReaderV2")]),
    OpCase("ReaderNumWorkUnitsCompletedV2", [made("TextLineReaderV2")]),
    OpCase("ReaderSerializeStateV2", [made("WholeFileReaderV2")]),
    OpCase("ReaderSerializeStateV2", [made("TFRecordReaderV2")], raises=True),
    OpCase("ReaderRestoreStateV2", [made("IdentityReaderV2"), strings("\x08\x01\x10\x01")]),
    OpCase("ReaderRestoreStateV2", [made("IdentityReaderV2"), strings("\x08\x02")], raises=True),
    OpCase("ReaderResetV2", [made("FixedLengthRecordReaderV2", record_bytes=3)]),
    OpCase("ReaderNumRecordsProduced", [made("IdentityReader")]),
    OpCase("ReaderNumWorkUnitsCompleted", [made("TextLineReader")]),
    OpCase("ReaderSerializeState", [made("WholeFileReader")]),
    OpCase("ReaderRestoreState", [made("IdentityReader"), strings("\x08\x01\x10\x01")]),
    OpCase("ReaderReset", [made("TFRecordReader")]),
    OpCase("ReaderReset", [made("FixedLengthRecordReader", record_bytes=3)]),
]  # fmt: skip
