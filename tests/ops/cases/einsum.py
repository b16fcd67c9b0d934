"""Rows for the op Einsum."""

from tests.ops.opcase import COMPLEX, FLOATS, OpCase, feed, real

_SWEEP = (*FLOATS, *COMPLEX, "int32", "int64")


def _row(equation, *shapes, dtypes=("float32",), **more):
    return OpCase("Einsum", [[real(*s) for s in shapes]], {"equation": equation}, dtypes, **more)


CASES = [
    _row("ij,jk->ik", (3, 4), (4, 2), dtypes=_SWEEP, grad2=True),
    _row("bij,bjk->bik", (2, 3, 4), (2, 4, 2), dtypes=("float32", "complex64")),
    _row("ij->ji", (3, 4), dtypes=_SWEEP),
    _row("ijk->i", (3, 4, 2), dtypes=("float32", "complex64")),
    _row("ijk->ki", (3, 4, 2)),
    _row("ij->", (3, 4), dtypes=("float32", "int32")),
    _row("i,j->ij", (3,), (4,), dtypes=("float32", "complex64")),
    _row("i,i->", (3,), (3,)),
    _row("ijk,jl->i", (2, 3, 4), (3, 2)),
    _row("ab,cd->abcd", (2, 3), (1, 2)),
    _row("Ab,bA->A", (2, 3), (3, 2)),
    # labels repeated within an operand and within the result
    _row("ii->i", (3, 3), dtypes=("float32", "complex64")),
    _row("ii->", (3, 3)),
    _row("iij->ij", (3, 3, 2)),
    _row("iij->j", (3, 3, 2)),
    _row("i->ii", (3,)),
    _row("ij->iji", (3, 2)),
    _row("ii,ij->ij", (3, 3), (3, 2)),
    _row("ij,jk->ikk", (3, 2), (2, 4)),
    # broadcast dims
    _row("...ij,...jk->...ik", (2, 3, 4), (2, 4, 2)),
    _row("...ij,jk->...ik", (5, 2, 3, 4), (4, 2)),
    _row("...ij,...jk->i...k", (5, 1, 3, 4), (2, 4, 2)),
    _row("i...,i...->...", (3, 2), (3, 1)),
    _row("...->...", (3, 2)),
    _row("a...b->b...a", (2, 3, 4, 5)),
    _row("...ij->...i", (2, 3, 4)),
    _row("ij...,jk->ik...", (2, 3), (3, 4)),
    # sizes of 0, and scalars
    _row("ij,jk->ik", (3, 0), (0, 2)),
    _row(",->", (), ()),
    _row("i,->i", (3,), ()),
    # refused
    _row("ij,jk->ik", (3, 4), (3, 2), raises=True),
    _row("ij,jk", (3, 4), (4, 2), raises=True),
    _row("ij->ik", (3, 4), raises=True),
    _row("ijk->i", (3, 4), raises=True),
    _row("ii->i", (3, 4), raises=True),
    _row("...j->j", (3, 4), raises=True),
    _row("i,j,k->ijk", (2,), (2,), (2,), raises=True),
    _row("ij,jk->ik", (3, 4), raises=True),
    OpCase("Einsum", [[feed([[True]], "bool")]], {"equation": "ij->i?"}, raises=True),
]
