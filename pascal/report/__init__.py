"""Rows in, tables and figures out: each is one function under `figures` or `tables`, with its caption and its inputs.

Import from the modules: planning reads `registry` alone, without pandas and matplotlib.
"""
