"""``from penstock.python.ops import rnn``."""

from penstock.recurrent.bidirectional import bidirectional_dynamic_rnn, static_bidirectional_rnn
from penstock.recurrent.bidirectional import static_bidirectional_rnn as bidirectional_rnn
from penstock.recurrent.dynamic import dynamic_rnn
from penstock.recurrent.raw import raw_rnn
from penstock.recurrent.static import static_rnn, static_state_saving_rnn
from penstock.recurrent.static import static_rnn as rnn
from penstock.recurrent.static import static_state_saving_rnn as state_saving_rnn

__all__ = [
    "bidirectional_dynamic_rnn",
    "bidirectional_rnn",
    "dynamic_rnn",
    "raw_rnn",
    "rnn",
    "state_saving_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
]
