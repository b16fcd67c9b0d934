"""Nodes that the queue classes make, dumped from TensorFlow 1.15 (`get_operations()`)."""

from __future__ import annotations

# name, op type, inputs
NODES = [
    ("fifo_queue", "FIFOQueueV2", []),
    ("fifo_queue_enqueue/component_0", "Const", []),
    ("fifo_queue_enqueue/component_1", "Const", []),
    (
        "fifo_queue_enqueue",
        "QueueEnqueueV2",
        ["fifo_queue:0", "fifo_queue_enqueue/component_0:0", "fifo_queue_enqueue/component_1:0"],
    ),
    ("fifo_queue_EnqueueMany/component_0", "Const", []),
    ("fifo_queue_EnqueueMany/component_1", "Const", []),
    (
        "fifo_queue_EnqueueMany",
        "QueueEnqueueManyV2",
        [
            "fifo_queue:0",
            "fifo_queue_EnqueueMany/component_0:0",
            "fifo_queue_EnqueueMany/component_1:0",
        ],
    ),
    ("fifo_queue_Dequeue", "QueueDequeueV2", ["fifo_queue:0"]),
    ("fifo_queue_DequeueMany/n", "Const", []),
    (
        "fifo_queue_DequeueMany",
        "QueueDequeueManyV2",
        ["fifo_queue:0", "fifo_queue_DequeueMany/n:0"],
    ),
    ("fifo_queue_DequeueUpTo/n", "Const", []),
    (
        "fifo_queue_DequeueUpTo",
        "QueueDequeueUpToV2",
        ["fifo_queue:0", "fifo_queue_DequeueUpTo/n:0"],
    ),
    ("fifo_queue_Close", "QueueCloseV2", ["fifo_queue:0"]),
    ("fifo_queue_Is_Closed", "QueueIsClosedV2", ["fifo_queue:0"]),
    ("fifo_queue_Size", "QueueSizeV2", ["fifo_queue:0"]),
    ("sc/random_shuffle_queue", "RandomShuffleQueueV2", []),
    ("sc/E/component_0", "Const", []),
    ("sc/E", "QueueEnqueueV2", ["sc/random_shuffle_queue:0", "sc/E/component_0:0"]),
    ("sc/D", "QueueDequeueV2", ["sc/random_shuffle_queue:0"]),
    ("sc/DM/n", "Const", []),
    ("sc/DM", "QueueDequeueManyV2", ["sc/random_shuffle_queue:0", "sc/DM/n:0"]),
    ("sc/priority_queue", "PriorityQueueV2", []),
    ("sc/priority_queue_enqueue/component_0", "Const", []),
    ("sc/priority_queue_enqueue/component_1", "Const", []),
    (
        "sc/priority_queue_enqueue",
        "QueueEnqueueV2",
        [
            "sc/priority_queue:0",
            "sc/priority_queue_enqueue/component_0:0",
            "sc/priority_queue_enqueue/component_1:0",
        ],
    ),
    ("sc/priority_queue_EnqueueMany/component_0", "Const", []),
    ("sc/priority_queue_EnqueueMany/component_1", "Const", []),
    (
        "sc/priority_queue_EnqueueMany",
        "QueueEnqueueManyV2",
        [
            "sc/priority_queue:0",
            "sc/priority_queue_EnqueueMany/component_0:0",
            "sc/priority_queue_EnqueueMany/component_1:0",
        ],
    ),
    ("sc/padding_fifo_queue", "PaddingFIFOQueueV2", []),
    ("sc/padding_fifo_queue_enqueue/component_0", "Const", []),
    (
        "sc/padding_fifo_queue_enqueue",
        "QueueEnqueueV2",
        ["sc/padding_fifo_queue:0", "sc/padding_fifo_queue_enqueue/component_0:0"],
    ),
]
