"""Networks in one safetensors file: the calls of the graph as plain data beside the numbers. No pickle, no classes."""

from pascal.graph.saving.file import is_saved, load, save, to_bytes

__all__ = ["is_saved", "load", "save", "to_bytes"]
