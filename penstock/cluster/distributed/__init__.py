"""Masters, workers and servers: sessions whose steps run on several tasks."""

import os

# What gRPC tells by default, as that a peer closed its connection, is no news to users.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
