"""Texts without credentials: addresses of servers carry them, and logs are shown to others."""

import re

_CREDENTIALS = re.compile(r"(?<=://)[^\s/'\"]+(?=@)")
_SECRETS = re.compile(r"(?i)((?:password|passwd|pwd|token|secret)=)[^\s&'\"]+")


def masked(text: str) -> str:
    """A text without the credentials of the addresses in it."""
    return _SECRETS.sub(r"\1***", _CREDENTIALS.sub("***", text))
