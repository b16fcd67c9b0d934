"""gRPC's calls of one request and one answer, over HTTP/2 on blocking sockets, without TLS.

The thread that reads a call answers it, so that a short call costs no hand-over between threads.
"""
