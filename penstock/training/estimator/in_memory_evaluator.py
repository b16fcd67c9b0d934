"""``InMemoryEvaluatorHook``: evaluations amid training, of the variables as they are.

The graph of the evaluation is built once; each evaluation is a session of it that begins with the
values that the training session has.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import collecting
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.ops.array.constant import placeholder
from penstock.ops.control.control import group
from penstock.ops.state.state import assign
from penstock.training.estimator import evaluation
from penstock.training.estimator.estimator import Estimator, checked_hooks
from penstock.training.monitored.hook import SessionRunContext, SessionRunHook, SessionRunValues
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.monitored.timers import SecondOrStepTimer


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates before training, now and then meanwhile, and at the end, without checkpoints.

    Args:
      estimator: the estimator that is trained.
      input_fn, steps, hooks, name: as of ``Estimator.evaluate``.
      every_n_iter: steps of training between two evaluations.

    Raises:
      ValueError: ``every_n_iter`` is not above 0, training is not on one machine, or the model has
        a saver or an ``init_fn`` of its own.

    Example:
      >>> import glob, penstock as tf
      >>> estimator = tf.estimator.BaselineRegressor()
      >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [3.0])).repeat(3)
      >>> hook = tf.estimator.experimental.InMemoryEvaluatorHook(estimator, data, steps=1)
      >>> _ = estimator.train(data, hooks=[hook])
      >>> len(glob.glob(estimator.eval_dir() + "/*"))
      1
    """

    def __init__(
        self, estimator: Estimator, input_fn: Any, steps: int | None = None, hooks: Any = None,
        name: str | None = None, every_n_iter: int = 100,
    ) -> None:  # fmt: skip
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator, self._input_fn = estimator, input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = checked_hooks(hooks)
        if steps is not None:
            self._hooks.append(evaluation.StopAfterNEvalsHook(steps))
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the graph of the evaluations."""
        self._timer.reset()
        self._steps_done = 0
        self._graph = Graph()
        with self._graph.as_default():
            built = self._estimator.evaluation_graph(self._graph, self._input_fn, self._hooks, None)
            self._scaffold, update, self._values, self._all_hooks = built
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._ops = evaluation.counted(update, self._all_hooks)
            self._fed = {
                each.name: (each, placeholder(each.dtype.base_dtype, each.shape))
                for each in collecting.get_collection(GraphKeys.GLOBAL_VARIABLES)
            }

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Finds the variables that both graphs have, and evaluates what they begin with."""
        if collecting.get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables."
            )
        trained = collecting.get_collection(GraphKeys.GLOBAL_VARIABLES)
        self._trained = {each.name: each for each in trained if each.name in self._fed}
        with self._graph.as_default():
            pairs = [self._fed[name] for name in self._trained]
            self._take = group(*(assign(variable, fed) for variable, fed in pairs))
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        values = session.run(self._trained)
        feed = {self._fed[name][1]: value for name, value in values.items()}

        def take(_: Scaffold, evaluating: Any) -> None:
            evaluating.run(self._take, feed_dict=feed)

        config = self._estimator.config
        with self._graph.as_default():
            self._scaffold = Scaffold(init_fn=take, copy_from_scaffold=self._scaffold)
            results = evaluation.run_counted(
                self._ops, None, config.evaluation_master, self._scaffold, self._values,
                self._all_hooks, config.session_config,
            )  # fmt: skip
        evaluation.write_results(self._eval_dir, results, None)
        self._timer.update_last_triggered_step(self._steps_done)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Evaluates when it is time."""
        self._steps_done += 1
        if self._timer.should_trigger_for_step(self._steps_done):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluates what has become of the variables."""
        self._evaluate(session)
