"""What a predictor is: a session, what is fed by name, and what is fetched by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Predictor:
    """A function from a dict of arrays to a dict of arrays, which keeps its session.

    Args:
      graph: the graph of the model.
      session: a session in which it can run.
      feed_tensors: tensors of the graph by the names of inputs.
      fetch_tensors: tensors of the graph by the names of outputs.
    """

    def __init__(
        self,
        graph: Any,
        session: Any,
        feed_tensors: Mapping[str, Any],
        fetch_tensors: Mapping[str, Any],
    ) -> None:
        self._graph, self._session = graph, session
        self._feed_tensors, self._fetch_tensors = dict(feed_tensors), dict(fetch_tensors)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors"
            f" {self._fetch_tensors}"
        )

    @property
    def graph(self) -> Any:
        """The graph of the model."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session that it runs in."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """What is fed, by the names of inputs."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """What is fetched, by the names of outputs."""
        return self._fetch_tensors

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs for some inputs.

        Args:
          input_dict: arrays by the names of inputs; inputs that have defaults may be left out.

        Raises:
          ValueError: names that are no inputs.
        """
        unknown = set(input_dict) - set(self._feed_tensors)
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unknown}\nexpected: {set(self._feed_tensors)}"
            )
        feed = {self._feed_tensors[name]: value for name, value in input_dict.items()}
        found: dict[str, Any] = self._session.run(self._fetch_tensors, feed)
        return found
