"""``tf.test.Benchmark``: functions that measure, found by their names and run by ``main``.

State: the classes that were defined, by which ``--benchmarks=PATTERN`` finds their methods.
"""

from __future__ import annotations

import inspect
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from penstock.engine.session.options import ConfigProto, RunMetadata, RunOptions
from penstock.foundation.formats.message_table import make_messages
from penstock.foundation.graph import scopes
from penstock.tools.platform import app, tf_logging
from penstock.tools.profiler.timeline import Timeline

# Where the results go: files whose paths begin so; without it they are printed.
_FILE_PREFIX = "TEST_REPORT_FILE_PREFIX"
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "BenchmarkEntries": {"entry": (1, "*BenchmarkEntry")},
    "BenchmarkEntry": {
        "name": (1, "string"),
        "iters": (2, "int64"),
        "cpu_time": (3, "double"),
        "wall_time": (4, "double"),
        "throughput": (5, "double"),
        "extras": (6, "map<EntryValue>"),
        "metrics": (7, "*MetricEntry"),
    },
    "EntryValue": {"double_value": (1, "?double"), "string_value": (2, "?string")},
    "MetricEntry": {
        "name": (1, "string"),
        "value": (2, "double"),
        "min_value": (3, "DoubleValue"),
        "max_value": (4, "DoubleValue"),
    },
    "DoubleValue": {"value": (1, "double")},
}
_classes = make_messages("test_log", _MESSAGES, oneofs={"EntryValue": "kind"})
BenchmarkEntries: Any = _classes["BenchmarkEntries"]

_defined: list[type[Benchmark]] = []


class Benchmark:
    """What benchmarks derive from: their methods whose names begin with ``benchmark`` are run.

    Example:
      >>> import penstock as tf
      >>> class Products(tf.test.Benchmark):
      ...     def benchmarkSquare(self):
      ...         x = tf.ones([100, 100])
      ...         with tf.Session() as sess:
      ...             self.run_op_benchmark(sess, tf.matmul(x, x).op)
      >>> Products.is_abstract(), tf.test.Benchmark.is_abstract()
      (False, True)
    """

    def __init__(self) -> None:
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            _defined.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether this is no benchmark itself."""
        return cls is Benchmark

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors, by the default session.

        Raises:
          ValueError: there is none.
        """
        session = scopes.get_default_session()
        if session is None:
            raise ValueError("Benchmark.evaluate needs a default session")
        return session.run(tensors)

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, Any] | None = None,
        name: str | None = None,
        metrics: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Prints a result, or writes it where ``TEST_REPORT_FILE_PREFIX`` says.

        Args:
          iters: how often it ran.
          cpu_time, wall_time: of one run, in seconds.
          throughput: in MB/s.
          extras: what else there is to say, numbers or texts by name.
          name: of the result; default is the name of the method that was run.
          metrics: dicts with "name", "value", and maybe "min_value" and "max_value".

        Raises:
          TypeError: extras or metrics are something else.
          OSError: the file is there already.
        """
        rows = {
            "iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput,
        }  # fmt: skip
        entries = BenchmarkEntries()
        entry = entries.entry.add(name=f"{type(self).__name__}.{name or _running(self)}")
        for field, value in rows.items():
            if value is not None:
                setattr(entry, field, value)
        _add_extras(entry, extras)
        _add_metrics(entry, metrics)
        shown = {field: -1 if value is None else value for field, value in rows.items()}
        tf_logging.info(
            "Benchmark [%s] iters: %d, wall_time: %g, cpu_time: %g,throughput: %g, extras: %s,"
            " metrics: %s",
            entry.name, shown["iters"], shown["wall_time"], shown["cpu_time"],
            shown["throughput"], extras or None, metrics or None,
        )  # fmt: skip
        _deliver(entry.name, entries)

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Measures how long a step takes, and reports the median.

        Args:
          sess: the session.
          op_or_tensor: what it runs.
          feed_dict: what it is fed.
          burn_iters: how many runs come first and do not count.
          min_iters: how many runs count.
          store_trace: whether to trace one more run; its trace comes with the result.
          store_memory_usage: whether to see in one more run how much each allocator hands out.
          name: of the result; default is the name of the method that was run.
          extras: what else there is to say, numbers or texts by name.
          mbs: the megabytes that a run moves, for the throughput.

        Returns:
          What was reported, by argument of ``report_benchmark``; with ``store_trace`` the trace
          is in "extras" as "full_trace_chrome_format".
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = [_seconds(sess, op_or_tensor, feed_dict) for _ in range(min_iters)]
        median = statistics.median(times) if times else -1
        said = dict(extras or {})
        traced: dict[str, Any] = {}
        if store_trace or store_memory_usage:
            timeline = _traced(sess, op_or_tensor, feed_dict)
            if store_trace:
                traced["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                most = timeline.analyze_step_stats(show_memory=True).allocator_maximums
                said |= {f"allocator_maximum_num_bytes_{k}": v.num_bytes for k, v in most.items()}
        values: dict[str, Any] = {
            "iters": min_iters, "wall_time": median, "extras": said, "name": name,
            "throughput": mbs / median,
        }  # fmt: skip
        self.report_benchmark(**values)
        values["extras"] = said | traced
        return values


def _seconds(sess: Any, fetch: Any, feed_dict: Any) -> float:
    begun = time.perf_counter()
    sess.run(fetch, feed_dict=feed_dict)
    return time.perf_counter() - begun


def _traced(sess: Any, fetch: Any, feed_dict: Any) -> Timeline:
    options = RunOptions(trace_level=RunOptions.FULL_TRACE)
    metadata = RunMetadata()
    sess.run(fetch, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return Timeline(metadata.step_stats)


def _running(benchmark: Benchmark) -> str:
    """The name of the outermost method of ``benchmark`` that runs."""
    frame, found = inspect.currentframe(), ""
    while frame is not None:
        if frame.f_locals.get("self") is benchmark:
            found = frame.f_code.co_name
        frame = frame.f_back
    return found


def _add_extras(entry: Any, extras: Any) -> None:
    if extras is not None and not isinstance(extras, dict):
        raise TypeError(f"extras must be a dict; found {type(extras).__name__}")
    for name, value in (extras or {}).items():
        if isinstance(value, Number):
            entry.extras[name].double_value = value
        else:
            entry.extras[name].string_value = str(value)


def _add_metrics(entry: Any, metrics: Any) -> None:
    if metrics is not None and not isinstance(metrics, list):
        raise TypeError(f"metrics must be a list; found {type(metrics).__name__}")
    for metric in metrics or ():
        for needed in ("name", "value"):
            if needed not in metric:
                raise TypeError(f"a metric must have a {needed!r}; found {sorted(metric)}")
        row = entry.metrics.add(name=metric["name"], value=metric["value"])
        for bound in {"min_value", "max_value"} & set(metric):
            getattr(row, bound).value = metric[bound]


def _deliver(name: str, entries: Any) -> None:
    prefix = os.environ.get(_FILE_PREFIX)
    if prefix is None:
        print(entries)
        return
    with open(prefix + name.replace("/", "__"), "xb") as file:
        file.write(entries.SerializeToString())


def benchmark_config() -> Any:
    """A ConfigProto for benchmarks: without optimizing by dependencies, as TensorFlow has it."""
    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = RewriterConfig.OFF
    return config


def run_benchmarks_or(main: Callable[[], Any]) -> None:
    """Runs the benchmarks that ``--benchmarks=PATTERN`` names; without that flag, ``main``.

    Args:
      main: runs the tests.
    """
    flag = next((a for a in sys.argv if re.match("--?benchmarks=", a)), None)
    if flag is None:
        main()
        return
    sys.argv.remove(flag)
    pattern = flag.partition("=")[2]
    app.run(lambda argv: _run(pattern), argv=sys.argv)


def _run(pattern: str) -> None:
    for each in list(_defined):
        names = [n for n in dir(each) if n.startswith("benchmark") and callable(getattr(each, n))]
        full = {name: f"{each.__module__}.{each.__name__}.{name}" for name in names}
        chosen = [n for n in names if pattern == "all" or re.search(pattern, full[n])]
        benchmark = each() if chosen else None
        for name in chosen:
            getattr(benchmark, name)()
