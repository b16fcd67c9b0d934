"""``tf.dtypes``: element types; explicit re-exports, no logic."""

from penstock.base.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
)
from penstock.base.dtypes import (
    DType as bfloat16,
)
from penstock.base.dtypes import (
    DType as bool,
)
from penstock.base.dtypes import (
    DType as complex64,
)
from penstock.base.dtypes import (
    DType as complex128,
)
from penstock.base.dtypes import (
    DType as double,
)
from penstock.base.dtypes import (
    DType as float16,
)
from penstock.base.dtypes import (
    DType as float32,
)
from penstock.base.dtypes import (
    DType as float64,
)
from penstock.base.dtypes import (
    DType as half,
)
from penstock.base.dtypes import (
    DType as int8,
)
from penstock.base.dtypes import (
    DType as int16,
)
from penstock.base.dtypes import (
    DType as int32,
)
from penstock.base.dtypes import (
    DType as int64,
)
from penstock.base.dtypes import (
    DType as qint8,
)
from penstock.base.dtypes import (
    DType as qint16,
)
from penstock.base.dtypes import (
    DType as qint32,
)
from penstock.base.dtypes import (
    DType as quint8,
)
from penstock.base.dtypes import (
    DType as quint16,
)
from penstock.base.dtypes import (
    DType as resource,
)
from penstock.base.dtypes import (
    DType as string,
)
from penstock.base.dtypes import (
    DType as uint8,
)
from penstock.base.dtypes import (
    DType as uint16,
)
from penstock.base.dtypes import (
    DType as uint32,
)
from penstock.base.dtypes import (
    DType as uint64,
)
from penstock.base.dtypes import (
    DType as variant,
)
from penstock.ops.cast import cast, saturate_cast
from penstock.ops.complex import complex_ as complex
from penstock.ops.string_text import as_string

__all__ = [
    "DType",
    "QUANTIZED_DTYPES",
    "as_dtype",
    "as_string",
    "bfloat16",
    "bool",
    "cast",
    "complex",
    "complex128",
    "complex64",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int16",
    "int32",
    "int64",
    "int8",
    "qint16",
    "qint32",
    "qint8",
    "quint16",
    "quint8",
    "resource",
    "saturate_cast",
    "string",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "variant",
]
