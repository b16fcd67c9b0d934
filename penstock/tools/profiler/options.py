"""Options of a profile: the documented dict, checked, and the builder that writes it."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from penstock.foundation.base import errors

TRAINABLE_VARIABLES = "_trainable_variables"
_EVERY_DEPTH = 10000

# What can be shown of a node, in the order of the report's columns; most of it can also be
# ordered by.
COLUMNS = (
    "bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros",
    "cpu_micros", "params", "float_ops", "device", "op_types", "occurrence", "input_shapes",
    "tensor_value",
)  # fmt: skip
_ORDERS = ("name", *COLUMNS[:9], "depth", "occurrence")
OUTPUTS = ("none", "stdout", "file", "timeline", "pprof")


@dataclass(frozen=True)
class Options:
    """A checked options dict; the fields are its keys."""

    max_depth: int = 10
    min_bytes: int = 0
    min_peak_bytes: int = 0
    min_residual_bytes: int = 0
    min_output_bytes: int = 0
    min_micros: int = 0
    min_accelerator_micros: int = 0
    min_cpu_micros: int = 0
    min_params: int = 0
    min_float_ops: int = 0
    min_occurrence: int = 0
    step: int = -1
    order_by: str = "name"
    account_type_regexes: Sequence[str] = (".*",)
    start_name_regexes: Sequence[str] = (".*",)
    trim_name_regexes: Sequence[str] = ()
    show_name_regexes: Sequence[str] = (".*",)
    hide_name_regexes: Sequence[str] = ()
    account_displayed_op_only: bool = False
    select: Sequence[str] = ()
    output: str = "stdout"
    dump_to_file: str = ""
    outfile: str = field(default="", init=False)

    def accounts(self, types: Sequence[str]) -> bool:
        """Whether a node of these types counts."""
        return matches(self.account_type_regexes, types)

    def minimum(self, column: str) -> int:
        """The least value of ``column`` that is shown."""
        return int(getattr(self, f"min_{column}"))


def matches(regexes: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a whole name matches one of the regexes."""
    return any(re.fullmatch(regex, name) for regex in regexes for name in names)


def parse(options: Mapping[str, Any]) -> Options:
    """Checks an options dict.

    Args:
      options: the dict, as ``ProfileOptionBuilder.build`` makes it; what is missing limits nothing
        (but ``max_depth``, which is 10, as in TensorFlow).

    Returns:
      The options.

    Raises:
      InvalidArgumentError: an unknown key, column, order or output, or a bad regular expression.
    """
    known = {f.name for f in fields(Options) if f.init}
    _refuse("option", [key for key in options if key not in known], known)
    unknown = [c for c in options.get("select", ()) if c not in COLUMNS]
    _refuse("column of 'select'", unknown, COLUMNS)
    order = options.get("order_by", "name")
    _refuse("attribute of 'order_by'", [] if order in _ORDERS else [order], _ORDERS)
    for key, value in options.items():
        if key.endswith("_regexes"):
            _check_regexes(key, value)
    parsed = Options(**options)
    kind, _, rest = parsed.output.partition(":")
    _refuse("kind of 'output'", [] if kind in OUTPUTS else [kind], OUTPUTS)
    key, _, value = rest.partition("=")
    if key not in ("", "outfile"):
        _refuse("output setting", [key], ["outfile"])
    object.__setattr__(parsed, "output", kind)
    object.__setattr__(parsed, "outfile", value)
    if kind in ("file", "timeline", "pprof") and not value:
        raise errors.invalid(f"output {kind!r} needs a file: write '{kind}:outfile=NAME'")
    return parsed


def _check_regexes(key: str, regexes: Any) -> None:
    for regex in regexes:
        try:
            re.compile(regex)
        except re.error as error:
            raise errors.invalid(
                f"{key} has {regex!r}, which is no regular expression: {error}"
            ) from None


def _refuse(what: str, bad: Sequence[str], allowed: Any) -> None:
    if bad:
        names = ", ".join(sorted(allowed))
        raise errors.invalid(f"the profiler has no {what} {bad[0]!r}; it has: {names}")


class ProfileOptionBuilder:
    """Builds the options dict of a profile.

    Args:
      options: a dict to start from (not changed); default is to show everything.

    Example:
      >>> builder = ProfileOptionBuilder(ProfileOptionBuilder.float_operation())
      >>> builder.with_max_depth(3).order_by("name").build()["max_depth"]
      3
    """

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        if options is not None:
            self._options = copy.deepcopy(options)
        else:
            self._options = {
                "max_depth": 100,
                "min_bytes": 0,
                "min_micros": 0,
                "min_params": 0,
                "min_float_ops": 0,
                "min_occurrence": 0,
                "order_by": "name",
                "account_type_regexes": [".*"],
                "start_name_regexes": [".*"],
                "trim_name_regexes": [],
                "show_name_regexes": [".*"],
                "hide_name_regexes": [],
                "account_displayed_op_only": False,
                "select": ["micros"],
                "step": -1,
                "output": "stdout",
            }

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """Options that show the parameters of the trainable variables."""
        return _preset(["params"], "name", accounted=TRAINABLE_VARIABLES)

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """Options that show the float operations of the nodes."""
        return _preset(["float_ops"], "float_ops", min_float_ops=1)

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """Options that show time and memory of the nodes.

        Args:
          min_micros: shows nodes that took so many microseconds, on CPU and accelerator together.
          min_bytes: shows nodes that asked for so many bytes.
          min_accelerator_micros: shows nodes that took so long on an accelerator.
          min_cpu_micros: shows nodes that took so long on a CPU.
          min_peak_bytes: shows nodes that held so many bytes at their peak.
          min_residual_bytes: shows nodes that left so many bytes allocated.
          min_output_bytes: shows nodes whose outputs have so many bytes.

        Returns:
          The dict.
        """
        return _preset(
            ["micros", "bytes"],
            "micros",
            min_micros=min_micros,
            min_bytes=min_bytes,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def build(self) -> dict[str, Any]:
        """The dict, a copy."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows so many levels of the tree (``op``: so many op types)."""
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> ProfileOptionBuilder:
        """Shows nodes with at least so much memory: asked for, peak, left, of the outputs."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Shows nodes that took at least so many microseconds."""
        return self._with(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows nodes with at least so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows op types and code lines with at least so many nodes."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows nodes with at least so many float operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Counts nodes one of whose types matches: op type, device, types of an op log."""
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Regular expressions that whole names must match.

        Args:
          start_name_regexes: the report starts at these nodes.
          show_name_regexes: these are shown,
          hide_name_regexes: except these.
          trim_name_regexes: nothing below these is looked at.

        Returns:
          The builder.
        """
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{k: copy.copy(v) for k, v in given.items() if v is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether totals are of the shown nodes only, or also of those that are hidden."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Writes no report."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints the report."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes the report to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes a Chrome trace of a traced step to ``timeline_file`` + ``_<step>``."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Writes the code view as a gzipped pprof profile."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Orders nodes by ``name`` or, the largest first, by a column."""
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """The columns that the report shows."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Which step of a ``Profiler`` to show; -1 for the mean of all."""
        return self._with(step=step)

    def _with(self, **settings: Any) -> ProfileOptionBuilder:
        self._options.update(settings)
        return self


def _preset(select: list[str], order: str, accounted: str = ".*", **minima: int) -> dict[str, Any]:
    """The options that TensorFlow's presets share."""
    return {
        "max_depth": _EVERY_DEPTH,
        "min_bytes": 0,
        "min_micros": 0,
        "min_params": 0,
        "min_float_ops": 0,
        "min_occurrence": 0,
        **minima,
        "order_by": order,
        "account_type_regexes": [accounted],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "select": select,
        "step": -1,
        "output": "stdout",
    }
