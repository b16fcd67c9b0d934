"""Models that leave and come in: programs of torch alone, ONNX, modules of torch."""
