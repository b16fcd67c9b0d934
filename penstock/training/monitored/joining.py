"""Whether a model lives in a cluster and has gone on from its latest checkpoint.

Parameter servers outlive a chief.  One that was restarted must not restore the checkpoint over what
the workers have trained since; it joins them.  A model that a server still has from before the
checkpoint was written (another job's, say) is no reason to leave the checkpoint.
"""

from __future__ import annotations

import logging
import re
from typing import Any

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.global_step import get_global_step
from penstock.storage.checkpoint.reader import NewCheckpointReader

_log = logging.getLogger("penstock")
_STEP_OF_NAME = re.compile(r"-(\d+)$")


def has_gone_on(sess: Any, missing_op: Any, path: str) -> bool:
    """Whether the session's model has all its shared variables, at the checkpoint's step or later.

    Args:
      sess: the session; one of this process alone has a new model.
      missing_op: names the variables without value; None cannot tell.
      path: the checkpoint.

    Raises:
      tf.errors.OpError: a task is lost.
    """
    step = get_global_step(sess.graph)
    if not sess.sess_str or missing_op is None or step is None:
        return False
    try:
        if not _all_there(sess, missing_op):
            return False
        live = int(sess.run(step))
    except errors.FailedPreconditionError:  # some variable has no value
        return False
    saved = _saved_step(path, step.op.name)
    if saved is None or live < saved:
        return False
    _log.info(
        "Joining the model that lives in the cluster, at step %d; %s has step %d",
        live, path, saved,
    )  # fmt: skip
    return True


def _all_there(sess: Any, missing_op: Any) -> bool:
    """Whether nothing is missing but local variables, which each task makes for itself."""
    missing = sess.run(missing_op)
    if missing is None or missing.dtype == np.int32:
        return True
    local = {each.op.name for each in sess.graph.get_collection(GraphKeys.LOCAL_VARIABLES)}
    return all(name.decode() in local for name in np.ravel(missing))


def _saved_step(path: str, name: str) -> int | None:
    """The global step of a checkpoint; None where it does not say."""
    try:
        reader = NewCheckpointReader(path)
        if reader.has_tensor(name):
            return int(reader.get_tensor(name))
    except (errors.OpError, ValueError):  # restoring says what is wrong with it
        return None
    found = _STEP_OF_NAME.search(path)
    return int(found[1]) if found else None
