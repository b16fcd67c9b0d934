"""Queue ops, each on a fresh queue; tests/training/data has what takes several steps."""

from tests.ops.opcase import OpCase, const, feed, made, real, strings

_FORMS = ("", "V2")
# Without a bound: rows are run several times, and must not wait.
_ATTRS = {"capacity": -1, "component_types": ["T"], "shapes": [[2]]}


def _queue(form, kind="FIFOQueue", **attrs):
    return made(kind + form, **{**_ATTRS, **attrs})


CASES = [
    *(
        OpCase("QueueEnqueue" + form, [_queue(form), [real(2)]], {},
               ("float32", "half", "int64", "bool", "complex64", "string"))
        for form in _FORMS
    ),
    *(
        OpCase("QueueEnqueue" + form, [_queue(form), [real(3)]], {}, raises=True)
        for form in _FORMS
    ),
    *(
        OpCase("QueueEnqueueMany" + form, [_queue(form, kind), [real(count, 2)]], {})
        for form in _FORMS
        for kind in ("FIFOQueue", "PaddingFIFOQueue")
        for count in (0, 3)
    ),
    OpCase("QueueEnqueueManyV2", [_queue("V2", "RandomShuffleQueue"), [real(3, 2)]], {}),
    OpCase("QueueEnqueueManyV2", [_queue("V2", component_types=["string"], shapes=[[]]),
                                  [strings(["a", "b"])]], {}),
    OpCase("QueueEnqueueManyV2", [_queue("V2"), [real()]], {}, raises=True),
    *(
        OpCase(op + form, [_queue(form, kind), count], {"component_types": ["T"]},
               ("float32", "int32", "string"), type_attr="component_types")
        for op in ("QueueDequeueMany", "QueueDequeueUpTo")
        for form in _FORMS
        for kind in ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue")
        for count in (const(0), feed(0, "int32"))
    ),
    *(
        OpCase("QueueDequeueMany" + form, [_queue(form, shapes=[]), const(0)],
               {"component_types": ["T"]}, raises=True)
        for form in _FORMS
    ),
    *(
        OpCase("QueueDequeueUpToV2", [_queue("V2"), count], {"component_types": ["T"]}, raises=True)
        for count in (const(-1), feed(-1, "int32"))
    ),
    *(
        OpCase(op + form, [_queue(form, kind)])
        for op in ("QueueSize", "QueueIsClosed")
        for form in _FORMS
        for kind in ("FIFOQueue", "PriorityQueue")
    ),
    # Closing twice without cancelling is an error, and rows are run several times.
    *(
        OpCase("QueueClose" + form, [_queue(form)], {"cancel_pending_enqueues": True})
        for form in _FORMS
    ),
]  # fmt: skip
