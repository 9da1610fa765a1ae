"""The one exception a user of `pascal` meets."""


class PascalError(ValueError):
    """Bad input: the message names the layer or key, the value, what was expected and what to do."""
