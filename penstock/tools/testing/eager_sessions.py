"""What tests get for sessions where operations run as they are called: there is nothing to run."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.foundation.graph import nest


def evaluated(tensors: Any) -> Any:
    """A nesting of tensors with values, as arrays."""
    return nest.map_structure(lambda t: t.numpy() if hasattr(t, "numpy") else t, tensors)


class NoSession:
    """What ``session`` gives: it says that there is none as soon as something is asked of it."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session(),"
            " self.cached_session(), etc while eager execution is enabled: tensors have values"
            " here. Adapt the test to that, or call tf.disable_eager_execution() at its start"
        )


class ValuesAsSession:
    """What ``cached_session`` gives: its ``run`` gives the values that tensors have."""

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of a nesting of tensors.

        Raises:
          RuntimeError: something is to be fed.
        """
        if any(kwargs.values()) or args:
            raise RuntimeError(
                "Optional args are not supported when eager execution is enabled: sess.run(t) is"
                " short for t.numpy() there"
            )
        return evaluated(fetches)
