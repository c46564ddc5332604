# SPDX-License-Identifier: Apache-2.0
"""Reads messages of protobuf without any schema: what tests of exports have in common."""
import collections
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """a message as {field: [values]}: numbers, or bytes of what is inside"""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            value = bytes(data[at:at + size])
            if len(value) != size:
                raise ValueError("a field that ends after its message")
            at += size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value = bytes(data[at:at + size])
            at += size
        else:
            raise ValueError(f"wire type {wire}")
        found[key >> 3].append(value)
    return found


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def fixed64(data):
    return struct.unpack("<Q", data)[0]


def double(data):
    return struct.unpack("<d", data)[0]


def signed(value):
    """an int64 of a varint"""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value):
    """an sint32"""
    return (value >> 1) ^ -(value & 1)
