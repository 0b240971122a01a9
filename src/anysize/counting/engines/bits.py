"""Bit operations for numba kernels, most of them one instruction, and random bits."""

# mypy: ignore-errors
from __future__ import annotations

import numba  # before llvmlite, so that the error without them names numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from anysize.counting.engines.jit import helper

types = numba.types
uint64 = numba.uint64


@helper
def next_bits(state):
    """SplitMix64: the next state and 64 random bits."""
    state += uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return state, z ^ (z >> uint64(31))


@intrinsic
def popcount(typingctx, word):
    """Number of ones in a 64-bit word, as uint64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def lowest_bit(typingctx, word):
    """Position of the lowest one in a 64-bit word that is not zero, as uint64."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def fetch_add(typingctx, array, amount):
    """Add atomically to the first element of an int64 array; returns the value before."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", view.data, args[1], "seq_cst")

    return types.int64(array, types.int64), codegen


@intrinsic
def is_set(typingctx, flag):
    """Whether the first element of a uint8 array is not zero; read anew each time, as other threads may set it."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        value = builder.load_atomic(view.data, "monotonic", 1)
        return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))

    return types.boolean(flag), codegen


@intrinsic
def prefetch_row(typingctx, array, row):
    """Prefetch a row of a two-dimensional C array."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        strides = cgutils.unpack_tuple(builder, view.strides, 2)
        offset = builder.mul(args[1], strides[0])
        address = builder.bitcast(view.data, cgutils.voidptr_t)
        pointer = builder.gep(address, [offset])
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


def _vector_at(context, builder, array_type, value, index, lanes):
    """A pointer to the lanes of an int32 array that begin at an index."""
    view = context.make_array(array_type)(context, builder, value)
    return builder.bitcast(builder.gep(view.data, [index]), ir.VectorType(ir.IntType(32), lanes).as_pointer())


def _shuffled(builder, vector, lanes):
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), _lanes(lanes))


def _lanes(numbers):
    i32 = ir.IntType(32)
    return ir.Constant(ir.VectorType(i32, len(numbers)), [i32(number) for number in numbers])


@intrinsic(prefer_literal=True)
def add_outer(typingctx, target, at, sizes, first, second, width):
    """target[at + i * width + j] += sizes[first + i] * sizes[second + j], int32, in vector registers.

    Written by hand because the compiler cannot rule out that the arrays overlap, and does not vectorize.
    """
    n = width.literal_value

    def codegen(context, builder, signature, args):
        target_type, sizes_type = signature.args[0], signature.args[2]
        left = builder.load(_vector_at(context, builder, sizes_type, args[2], args[3], n), align=4)
        right = builder.load(_vector_at(context, builder, sizes_type, args[2], args[4], n), align=4)
        left = _shuffled(builder, left, [i for i in range(n) for _ in range(n)])
        right = _shuffled(builder, right, [j for _ in range(n) for j in range(n)])
        pointer = _vector_at(context, builder, target_type, args[0], args[1], n * n)
        total = builder.add(builder.load(pointer, align=4), builder.mul(left, right))
        builder.store(total, pointer, align=4)
        return context.get_dummy_value()

    return types.void(target, types.int64, sizes, types.int64, types.int64, width), codegen


@intrinsic(prefer_literal=True)
def add_scaled(typingctx, target, at, scale, sizes, width):
    """target[at + j] += scale * sizes[j] for j below width, int32, in vector registers."""
    n = width.literal_value

    def codegen(context, builder, signature, args):
        row = builder.load(_vector_at(context, builder, signature.args[3], args[3], ir.IntType(64)(0), n), align=4)
        start = ir.Constant(ir.VectorType(ir.IntType(32), n), ir.Undefined)
        many = _shuffled(builder, builder.insert_element(start, args[2], ir.IntType(32)(0)), [0] * n)
        pointer = _vector_at(context, builder, signature.args[0], args[0], args[1], n)
        total = builder.add(builder.load(pointer, align=4), builder.mul(many, row))
        builder.store(total, pointer, align=4)
        return context.get_dummy_value()

    return types.void(target, types.int64, types.int32, sizes, width), codegen


@intrinsic(prefer_literal=True)
def add_outer_wide(typingctx, target, at, left, first, right, second, width):
    """target[at + i * width + j] += left[first + i] * right[second + j]: uint32 factors, int64 sums."""
    n = width.literal_value

    def codegen(context, builder, signature, args):
        i64 = ir.IntType(64)
        wide = ir.VectorType(i64, n * n)

        def factor(number, lanes):
            pointer = _vector_at(context, builder, signature.args[number], args[number], args[number + 1], n)
            return builder.zext(_shuffled(builder, builder.load(pointer, align=4), lanes), wide)

        product = builder.mul(
            factor(2, [i for i in range(n) for _ in range(n)]),
            factor(4, [j for _ in range(n) for j in range(n)]),
        )
        view = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = builder.bitcast(builder.gep(view.data, [args[1]]), wide.as_pointer())
        builder.store(builder.add(builder.load(pointer, align=8), product), pointer, align=8)
        return context.get_dummy_value()

    return types.void(target, types.int64, left, types.int64, right, types.int64, width), codegen
