"""Op families: op, public function, shape rule, kernel and gradient side by side.

Importing this package registers every op type.
"""
