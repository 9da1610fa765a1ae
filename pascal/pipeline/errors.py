"""The one error of the planning half, which must not wait for torch to be imported."""


class ParameterError(ValueError):
    """Says the key's path, the value and what was expected."""
