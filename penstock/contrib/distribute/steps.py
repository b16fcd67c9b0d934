"""Steps of training that a strategy runs many of in one ``Session.run``, and who runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import scopes
from penstock.ops.control.control import group


class MultiStepContext:
    """What a step's functions may leave for who made the step.

    State: outputs by name, those of the last iteration.
    """

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._others: dict[str, Any] = {}

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        """Tensors of the last iteration by name."""
        return self._last

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        """What is no tensor, by name."""
        return self._others

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Keeps a tensor of this iteration.

        Args:
          name: what it is kept as.
          output: the tensor.
          reduce_op: how those of the replicas become one; None keeps the replica's.
        """
        del reduce_op
        self._last[name] = output

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Keeps something that is no tensor."""
        self._others[name] = output


class Step:
    """A step of training: a subclass's ``__call__`` makes its operation.

    Args:
      distribution: the strategy.
    """

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> list[Any]:
        """The operations to run before the first step."""
        return []

    def __call__(self) -> Any:
        """The operation of a step.

        Raises:
          NotImplementedError: a subclass has none.
        """
        raise NotImplementedError("must be implemented in descendants")


class StandardInputStep(Step):
    """A step that reads a data set.

    Args:
      dataset_fn: makes the data set, in batches of a replica.
      distribution: the strategy.
    """

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any) -> None:
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        """The operation that starts the data set anew."""
        return self._iterator.initialize()


class StandardSingleLossStep(StandardInputStep):
    """A step that follows the gradients of a loss.

    Args:
      dataset_fn: makes the data set, in batches of a replica.
      loss_fn: takes a ``MultiStepContext`` and a batch, and returns the loss.
      optimizer: applies the gradients.
      distribution: the strategy.
      iterations_per_step: how many batches each call of the operation takes.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     one = tf.distribute.OneDeviceStrategy("/cpu:0")
      ...     with one.scope():
      ...         w = tf.get_variable("w", initializer=2.0)
      ...         step = tf.contrib.distribute.StandardSingleLossStep(
      ...             lambda: tf.data.Dataset.from_tensors([1.0]).repeat(),
      ...             lambda context, x: tf.reduce_sum(w * x),
      ...             tf.train.GradientDescentOptimizer(0.5), one, iterations_per_step=2)
      ...         begin, train = step.initialize(), step()
      ...     _ = sess.run([tf.global_variables_initializer(), begin])
      ...     _ = sess.run(train)
      ...     float(sess.run(w))
      1.0
    """

    def __init__(
        self, dataset_fn: Callable[[], Any], loss_fn: Callable[[Any, Any], Any], optimizer: Any,
        distribution: Any, iterations_per_step: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer = loss_fn, optimizer
        self._iterations = iterations_per_step

    def __call__(self) -> Any:
        """The operation that trains on the next batches, one after the other."""
        context, done = MultiStepContext(), group()
        for _ in range(self._iterations):
            with scopes.control_dependencies([done]):
                batch = self._iterator.get_next()
                updates = self.distribution.experimental_run_v2(
                    self._replica_step, (context, batch)
                )
                done = self.distribution.group(updates)
        return done

    def _replica_step(self, context: MultiStepContext, batch: Any) -> Any:
        return self._optimizer.minimize(self._loss_fn(context, batch))


class Monitor:
    """Runs the steps of a step callable in a session.

    Args:
      step_callable: a ``Step``; called once, for the operation.
      session: the session.

    Raises:
      ValueError: there is no session.
    """

    def __init__(self, step_callable: Any, session: Any = None) -> None:
        if session is None:
            raise ValueError(
                "Should provide a `session` in Graph mode: the steps are operations of its graph"
            )
        self._run_step = session.make_callable(step_callable())
        begin = step_callable.initialize()
        if begin:
            session.run(begin)

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs steps.

        Args:
          num_steps: how many; None for ever.
        """
        done = 0
        while num_steps is None or done < num_steps:
            self._run_step()
            done += 1
