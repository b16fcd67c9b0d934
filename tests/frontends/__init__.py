"""Front ends in other languages."""
