"""What one Python file says: a digest of its code, what it imports, and where a package's names are defined."""

import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

EVERY = "**"  # all modules of a package
Imported = tuple[str, str]  # (module, name within it); no name for the module itself; dots lead out of a package


class Source(TypedDict):
    """`exports` is for packages that do nothing but import: name → where it comes from."""

    digest: str
    imports: list[Imported]
    exports: dict[str, Imported] | None


def read_source(file: Path) -> Source:
    """Read a Python file or a stub."""
    text = file.read_text(encoding="utf-8")
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the stage itself will say so; until then any edit counts
        return {"digest": _sha(text), "imports": [], "exports": None}
    bound = list(_bound(tree))
    exports = dict(bound) if file.stem == "__init__" and all(map(_only_names, tree.body)) else None
    return {"digest": _sha(json.dumps(_plain(tree))), "imports": [where for _, where in bound], "exports": exports}


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(node: Any) -> Any:
    """A syntax tree without comments and lines; without empty fields, which differ between versions of Python."""
    if isinstance(node, ast.AST):
        return [type(node).__name__, *([name, _plain(value)] for name, value in ast.iter_fields(node) if value != [])]
    return [_plain(item) for item in node] if isinstance(node, list) else repr(node)


def _bound(tree: ast.AST) -> Iterator[tuple[str, Imported]]:
    """The names that a file's imports bind, those inside functions too."""
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((alias.asname or alias.name, (module, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Call) and _last_name(node.func) == "import_module":
            names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            yield from ((str(name), (str(name), "")) for name in names)
            folders = [argument.values[0] for argument in node.args if isinstance(argument, ast.JoinedStr)]
            for folder in (str(part.value) for part in folders if isinstance(part, ast.Constant)):
                yield folder, (folder.rstrip("."), EVERY)  # any of a package's modules


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that a type checker alone looks at."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _last_name(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield from _executed(other)
        else:
            yield from _executed(child)


def _last_name(node: ast.expr) -> str:
    """`b` of `a.b`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _only_names(statement: ast.stmt) -> bool:
    """Whether a statement of a package only says which names it has: imports, `__all__`, or its docstring."""
    if isinstance(statement, ast.Assign):
        names = [node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        return "__all__" in names
    documents = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return documents or isinstance(statement, ast.Import | ast.ImportFrom)
