"""Stretches of a program's lines that can become one native call: found, and put in their place."""
