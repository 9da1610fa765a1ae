"""Networks in one safetensors file: the calls of the graph as plain data beside the numbers. No pickle, no classes."""

from pascal.graph.saving.file import load, save, to_bytes

__all__ = ["load", "save", "to_bytes"]
