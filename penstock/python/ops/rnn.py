"""``from penstock.python.ops import rnn``."""

from penstock.recurrent.bidirectional import (
    bidirectional_dynamic_rnn as bidirectional_dynamic_rnn,
    static_bidirectional_rnn as _bidirectional_rnn,
    static_bidirectional_rnn as static_bidirectional_rnn,
)
from penstock.recurrent.dynamic import dynamic_rnn as dynamic_rnn
from penstock.recurrent.raw import raw_rnn as raw_rnn
from penstock.recurrent.static import (
    static_rnn as _rnn,
    static_rnn as static_rnn,
    static_state_saving_rnn as _state_saving_rnn,
    static_state_saving_rnn as static_state_saving_rnn,
)

bidirectional_rnn = _bidirectional_rnn
rnn = _rnn
state_saving_rnn = _state_saving_rnn
