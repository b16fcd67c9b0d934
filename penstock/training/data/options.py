"""``tf.data.Options``: what a pipeline asks of the runtime.

``experimental_stats`` and Penstock's own ``python_workers`` have effects; the others are kept and
merged.
"""

from __future__ import annotations

from typing import Any

_NAMES = (
    "experimental_deterministic", "experimental_distribute", "experimental_optimization",
    "experimental_slack", "experimental_stateful_whitelist", "experimental_stats",
    "experimental_threading", "python_workers",
)  # fmt: skip
_BOOLEAN = ("experimental_deterministic", "experimental_slack")


class _Group:
    """Options of one kind, any names."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__dict__})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash(type(self))


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The options of both; those that both set must be equal, those of a group one by one."""
    made = {**one, **other}
    for name in one.keys() & other.keys():
        a, b = one[name], other[name]
        unset = (None, "")
        if a in unset or b in unset or a == b:
            made[name] = a if b in unset else b
        elif isinstance(a, _Group) and type(a) is type(b):
            made[name] = type(a)()
            made[name].__dict__.update(_merged(a.__dict__, b.__dict__))
        else:
            raise ValueError(f"Cannot merge incompatible values ({a} and {b}) of option: {name}")
    return made


class DistributeOptions(_Group):
    """Options of distribution."""


class OptimizationOptions(_Group):
    """Options of the rewrites of pipelines."""


class MapVectorizationOptions(_Group):
    """Options of the vectorization of maps."""


class StatsOptions(_Group):
    """Options of statistics.

    State: ``aggregator`` a ``StatsAggregator`` or None; ``prefix`` of the tags.
    """

    def __init__(self) -> None:
        self.aggregator: Any = None
        self.prefix, self.counter_prefix = "", ""


class ThreadingOptions(_Group):
    """Options of threads."""


class Options:
    """What a pipeline asks of the runtime.

    >>> options = tf.data.Options()
    >>> options.experimental_deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().experimental_deterministic
    False

    ``python_workers`` (TensorFlow does not have it): how many processes run the pipeline's Python
    code, that of ``tf.py_func`` and ``Dataset.from_generator``; None, the default: threads of this
    process run it, which take turns. ``num_parallel_calls`` of ``map`` and ``interleave`` says how
    many calls are in work at a time:

        def load(name): ...                # at the top level of a module

        options = tf.data.Options()
        options.python_workers = 4
        dataset = names.map(lambda n: tf.py_func(load, [n], tf.float32), num_parallel_calls=4)
        dataset = dataset.with_options(options)

    Elements, their order and errors are those without the option. Functions and what ``partial``
    gives them are pickled; they share no state with this process or with each other. The processes
    start when they are first needed, import the module of the function, and end with the session; a
    script must guard its work by ``if __name__ == "__main__":``. One that dies fails its call with
    ``tf.errors.UnavailableError``, and another is started for the next.
    """

    # Made below, as properties.
    experimental_stats: Any
    python_workers: Any

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def merge(self, options: Options) -> Options:
        """These options, and those of ``options`` where they are set.

        Raises:
          ValueError: an option is set in both, to different values.
        """
        made = Options()
        made._values = _merged(self._values, options._values)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self._values == other._values

    def __hash__(self) -> int:
        return id(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name not in _NAMES:
            raise AttributeError(f"Cannot set the property {name} on Options.")
        super().__setattr__(name, value)


_DEFAULTS: dict[str, Any] = {
    "experimental_distribute": DistributeOptions, "experimental_optimization": OptimizationOptions,
    "experimental_stats": StatsOptions, "experimental_threading": ThreadingOptions,
}  # fmt: skip


def _option(name: str) -> property:
    def get(self: Options) -> Any:
        if name not in self._values and name in _DEFAULTS:
            self._values[name] = _DEFAULTS[name]()
        return self._values.get(name)

    def put(self: Options, value: Any) -> None:
        if name in _BOOLEAN and not isinstance(value, bool):
            raise TypeError(
                f'Property "{name}" must be of type {bool}, got: {value} (type: {type(value)})'
            )
        self._values[name] = value

    return property(get, put, doc=f"The option ``{name.removeprefix('experimental_')}``.")


for _name in _NAMES:
    setattr(Options, _name, _option(_name))
