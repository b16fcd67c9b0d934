"""What programs of 2015 to 2019 use and Python and its packages have dropped since.

Each row says what it is now, and stands here because that is the same thing under another name, or
can be written with what there is. What would change numbers unseen is left out: ``xrange`` and
other marks of Python 2, where ``/`` between integers means something else, or ``np.load`` of
pickles, which runs what the file says.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections import abc
from functools import partial
from types import ModuleType
from typing import Any

from penstock.foundation.base.missing import missing_attribute
from penstock.tf1 import old_h5py, old_methods, restoring

# Module to name to what it is now: an expression of that module, in a word its new name.
RENAMED: dict[str, dict[str, str]] = {
    "numpy": {
        # Aliases of Python's own types, dropped in NumPy 1.24.
        "float": "builtins.float", "int": "builtins.int", "bool": "builtins.bool",
        "object": "builtins.object", "str": "builtins.str", "complex": "builtins.complex",
        "long": "builtins.int", "unicode": "builtins.str",
        # Second names, dropped in NumPy 2.0 and after.
        "float_": "float64", "complex_": "complex128", "unicode_": "str_", "string_": "bytes_",
        "cfloat": "complex128", "singlecomplex": "complex64", "longfloat": "longdouble",
        "longcomplex": "clongdouble", "bool8": "bool_", "object0": "object_", "int0": "intp",
        "uint0": "uintp", "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf",
        "NaN": "nan", "NAN": "nan", "product": "prod", "cumproduct": "cumprod", "alltrue": "all",
        "sometrue": "any", "round_": "round", "in1d": "isin", "row_stack": "vstack",
        "trapz": "trapezoid", "rank": "ndim", "typeDict": "sctypeDict",
    },
    "collections": {
        # The abstract classes, which moved in Python 3.3 and are gone from here since 3.10.
        name: f"collections.abc.{name}"
        for name in abc.__all__
    },
    "inspect": {"getargspec": "penstock.tools.platform.inspecting.getargspec",
                "ArgSpec": "penstock.tools.platform.inspecting.ArgSpec"},
    "time": {"clock": "process_time"},
    "PIL.Image": {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"},
    "os": {"errno": "errno"},
    # Dropped in Python 3.12, where test runners of the time ask for it.
    "unittest": {"_TextTestResult": "TextTestResult"},
    "base64": {"encodestring": "encodebytes", "decodestring": "decodebytes"},
    "scipy.misc": {
        "comb": "scipy.special.comb", "factorial": "scipy.special.factorial",
        "factorial2": "scipy.special.factorial2", "logsumexp": "scipy.special.logsumexp",
        **{
            name: f"penstock.tf1.old_images.{name}"
            for name in ("bytescale", "fromimage", "imread", "imresize", "imrotate", "imsave",
                         "toimage")
        },
    },
    "scipy": {
        name: f"numpy.{name}"
        for name in ("array", "arange", "zeros", "ones", "mean", "sqrt", "exp", "log", "pi")
    },
}  # fmt: skip

# What is written here: module to name to value.
WRITTEN: dict[str, dict[str, Any]] = {
    "numpy": {
        "asscalar": lambda a: a.item(),
        "NINF": -math.inf,
        "PZERO": 0.0,
        "NZERO": -0.0,
        "msort": lambda a: _numpy().sort(a, axis=0),
        "mat": lambda data, dtype=None: _numpy().asmatrix(data, dtype=dtype),
        "asfarray": lambda a, dtype=float: _numpy().asarray(a, dtype=dtype),
        "issubclass_": lambda arg1, arg2: isinstance(arg1, type) and issubclass(arg1, arg2),
    },
    "fractions": {"gcd": lambda a, b: _gcd(a, b)},
    "cgi": {"escape": lambda s, quote=False: importlib.import_module("html").escape(s, quote)},
}

# Modules that are gone, and the modules whose names they had.
MOVED: dict[str, tuple[str, ...]] = {
    "xml.etree.cElementTree": ("xml.etree.ElementTree",),
    "sklearn.cross_validation": ("sklearn.model_selection",),
    "sklearn.externals.joblib": ("joblib",),
    "imp": ("penstock.tf1.old_imports",),
    "distutils": (),
    "distutils.version": ("penstock.tf1.old_versions",),
    "distutils.util": ("penstock.tf1.old_versions",),
    "six": ("penstock.tf1.old_six",),
    "six.moves": ("penstock.tf1.old_six_moves",),
    "six.moves.urllib": ("urllib",),
    "six.moves.urllib.request": ("urllib.request",),
    "six.moves.urllib.parse": ("urllib.parse",),
    "six.moves.urllib.error": ("urllib.error",),
    "six.moves.cPickle": ("pickle",),
    "six.moves.queue": ("queue",),
    "six.moves.configparser": ("configparser",),
}

# What is not put back, and what to do instead.
LEFT_OUT = {
    "keras_preprocessing": "pip install keras_preprocessing",
    "keras_applications": "pip install keras_applications",
    "matplotlib": "pip install matplotlib",
    "pandas": "pip install pandas",
    "scipy": "pip install scipy",
    "sklearn": "pip install scikit-learn",
    "cv2": "pip install opencv-python-headless",
    "h5py": "pip install h5py",
    "absl": "pip install absl-py",
}


def _numpy() -> Any:
    return importlib.import_module("numpy")


def _gcd(a: Any, b: Any) -> Any:
    """As ``fractions.gcd`` was: the result has the sign of b, unless b is zero."""
    while b:
        a, b = b, a % b
    return a


def _now(module: str, expression: str) -> Any:
    """What an expression of a row is."""
    if "." not in expression:
        home = sys.modules[module]
        found = vars(home).get(expression)
        return importlib.import_module(expression) if found is None else found
    home_name, _, name = expression.rpartition(".")
    return getattr(importlib.import_module(home_name), name)


def _names(module: str) -> dict[str, restoring.Value]:
    renamed, written = RENAMED.get(module, {}), WRITTEN.get(module, {})
    names: dict[str, restoring.Value] = {
        name: partial(_now, module, to) for name, to in renamed.items()
    }
    return names | {name: partial(_same, value) for name, value in written.items()}


def _same(value: Any) -> Any:
    return value


def _stand_in(name: str, homes: tuple[str, ...]) -> ModuleType:
    """A module that is gone, with the names of those that there are."""

    def get(wanted: str) -> Any:
        if f"{name}.{wanted}" in MOVED:
            return importlib.import_module(f"{name}.{wanted}")
        for home in homes:
            found = importlib.import_module(home)
            if hasattr(found, wanted):
                return getattr(found, wanted)
        text = f"module {name!r}, which Penstock puts back, has no attribute {wanted!r}"
        raise missing_attribute(text)

    made = ModuleType(name, f"{name}, put back by Penstock")
    made.__path__ = []
    made.__getattr__ = get  # type: ignore[method-assign]
    return made


def _parse_flags(flags: Any, args: list[str] | None = None) -> None:
    """As ``FLAGS._parse_flags`` of TensorFlow before 1.5: parses the command line."""
    flags([sys.argv[0], *(sys.argv[1:] if args is None else args)], known_only=True)


def _fromstring(before: Any, string: Any, dtype: Any = float, count: int = -1, **named: Any) -> Any:
    """As ``np.fromstring`` was: without ``sep``, bytes are the memory of an array."""
    if named.get("sep", ""):
        return before(string, dtype, count, **named)
    restoring.note("numpy.fromstring of bytes")
    given = string.encode() if isinstance(string, str) else string
    return _numpy().frombuffer(given, dtype, count).copy()


def _reshape(before: Any, a: Any, *shape: Any, **named: Any) -> Any:
    """As ``np.reshape`` was: the shape's keyword had another name until NumPy 2.1."""
    if "newshape" in named:
        restoring.note("numpy.reshape(newshape=)")
        named["shape"] = named.pop("newshape")
    return before(a, *shape, **named)


def _of_numpy(module: ModuleType) -> None:
    """What NumPy has still, and does otherwise."""
    # `[np.float32(1.5)]` is printed as `[1.5]`, in the thread that this runs in.
    module.set_printoptions(legacy="1.21")
    module.fromstring = partial(_fromstring, module.fromstring)  # type: ignore[attr-defined]
    module.reshape = partial(_reshape, module.reshape)  # type: ignore[attr-defined]


def _methods() -> dict[str, Any]:
    def of_threads(module: ModuleType) -> None:
        restoring.put_back_method(module.Thread, "isAlive", module.Thread.is_alive, "Thread")

    def of_flags(module: ModuleType) -> None:
        restoring.put_back_method(type(module.FLAGS), "_parse_flags", _parse_flags, "FLAGS")

    def of_tests(module: ModuleType) -> None:
        case = module.TestCase
        for old, new in _ASSERTIONS.items():
            restoring.put_back_method(case, old, getattr(case, new), "TestCase")

    return {
        "threading": of_threads,
        "penstock.tools.platform.flags": of_flags,
        "unittest.case": of_tests,
        "h5py": old_h5py.of_h5py,
    }


# Dropped in Python 3.12; assertItemsEqual is Python 2's.
_ASSERTIONS = {
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assert_": "assertTrue",
    "assertRegexpMatches": "assertRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertItemsEqual": "assertCountEqual",
}


def _both(first: Any, second: Any) -> Any:
    def do(module: ModuleType) -> None:
        first(module)
        second(module)

    return do


# Not empty once ``restore`` was called.
_done: list[bool] = []


def is_restored() -> bool:
    """Whether rows were put back in this process."""
    return bool(_done)


def restore() -> dict[str, str]:
    """Puts all rows back, in this process.

    Returns:
      what the program has used of it, with the line of the first use; it fills as the program runs.
    """
    _done.append(True)
    then = _methods()
    for name in {*RENAMED, *WRITTEN}:
        then[name] = partial(restoring.put_back, names=_names(name))
    then["numpy"] = _both(then["numpy"], _of_numpy)
    restoring.Watch(then).begin()
    made = {name: partial(_stand_in, name, homes) for name, homes in MOVED.items()}
    sys.meta_path.append(restoring.Stands(made))
    old_methods.restore()
    return restoring.used


def how_to_get(error: BaseException) -> str | None:
    """What to do about a package that is missing, where the table says it."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    name = (error.name or "").partition(".")[0]
    return f"{name!r} is not here: {LEFT_OUT[name]}" if name in LEFT_OUT else None
