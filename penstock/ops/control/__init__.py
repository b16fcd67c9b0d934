"""Control flow, functions, checks, and tensors handed between devices and tasks."""
