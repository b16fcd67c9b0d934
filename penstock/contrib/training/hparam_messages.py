"""The message that holds hyper-parameters in a MetaGraph."""

from __future__ import annotations

from typing import Any

from penstock.foundation.formats.message_table import make_messages

_classes = make_messages(
    "hparam",
    {
        "HParamDef": {"hparam": (1, "map<HParamDef.HParamType>")},
        "HParamDef.BytesList": {"value": (1, "*bytes")},
        "HParamDef.FloatList": {"value": (1, "*float")},
        "HParamDef.Int64List": {"value": (1, "*int64")},
        "HParamDef.BoolList": {"value": (1, "*bool")},
        "HParamDef.HParamType": {
            "int64_value": (1, "?int64"),
            "float_value": (2, "?float"),
            "bytes_value": (3, "?bytes"),
            "bool_value": (7, "?bool"),
            "int64_list": (4, "?HParamDef.Int64List"),
            "float_list": (5, "?HParamDef.FloatList"),
            "bytes_list": (6, "?HParamDef.BytesList"),
            "bool_list": (8, "?HParamDef.BoolList"),
        },
    },
    oneofs={"HParamDef.HParamType": "kind"},
)
HParamDef: Any = _classes["HParamDef"]
