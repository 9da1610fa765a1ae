"""Pages with generated parts: what stands between `<!-- name -->` and `<!-- /name -->` comes from files."""

import re


def with_section(page: str, name: str, text: str) -> str:
    """The page with another text between the marks."""
    return re.sub(rf"(?<=<!-- {name} -->\n).*(?=<!-- /{name} -->)", lambda _: text, page, flags=re.DOTALL)
