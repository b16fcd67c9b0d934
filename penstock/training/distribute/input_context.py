"""What an input function is told: which of the input pipelines it makes."""

from __future__ import annotations


class InputContext:
    """What an input function is told about the pipelines.

    Args:
      num_input_pipelines: how many pipelines there are.
      input_pipeline_id: which one is being made.
      num_replicas_in_sync: replicas of all pipelines.
    """

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:  # fmt: skip
        self._num_input_pipelines, self._input_pipeline_id = num_input_pipelines, input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """Replicas that train together."""
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        """Which pipeline is being made, from 0 on."""
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        """Pipelines there are."""
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """``global_batch_size`` divided by the number of replicas.

        Raises:
          ValueError: it does not divide.

        >>> InputContext(2, 0, 4).get_per_replica_batch_size(12)
        3
        """
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"the global batch size {global_batch_size} is no multiple of the number of"
                f" replicas, {self._num_replicas_in_sync}"
            )
        return global_batch_size // self._num_replicas_in_sync
