"""Rows of updates of rows, copies, and data formats."""

from tests.ops.opcase import ALL, INDEX, NUMERIC, OpCase, const, feed, ints, real

CASES = [
    *(
        OpCase(op, [real(5, 3), feed(rows, "int32"), real(len(rows), 3)], {},
               ALL if op == "InplaceUpdate" else NUMERIC)
        for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub")
        for rows in ([0, 3], [4, 4, 1], [])
    ),
    *(
        OpCase(op, [real(5, 3), feed([0, 1], "int32"), real(*shape)], raises=True)
        for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub")
        for shape in ((3, 3), (2, 4), (3,))
    ),
    OpCase("DeepCopy", [real(2, 3)], {}, ALL),
    OpCase("Empty", [const([2, 3])], {"dtype": "T", "init": True}, ("float32", "int32", "int64"),
           type_attr="dtype"),
    *(
        OpCase("DataFormatDimMap", [feed([0, 3, -1, -4, 2, 1], "T")],
               {"src_format": source, "dst_format": target}, INDEX)
        for source, target in (("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC"))
    ),
    *(
        OpCase("DataFormatVecPermute", [ints(*shape, hi=9, dtype="T")],
               {"src_format": source, "dst_format": target}, INDEX)
        for shape in ((4,), (4, 2))
        for source, target in (("NHWC", "NCHW"), ("NCHW", "NHWC"))
    ),
    OpCase("DataFormatDimMap", [feed([4], "int32")], raises=True),
    OpCase("DataFormatVecPermute", [ints(3)], raises=True),
]  # fmt: skip
