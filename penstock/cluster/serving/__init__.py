"""Trained models answer requests: TensorFlow Serving's calls over REST and gRPC.

    folder of versions -> versions.py: which to serve -> models.py: loads, hands out, drops
    request -> rest.py | grpc_calls.py -> calls.py -> servable.py -> batches of a session's steps

In comes a folder with SavedModels, out go the answers of ``penstock serve``.
"""
