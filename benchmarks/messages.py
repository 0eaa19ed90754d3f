"""Where code reads the text of our own errors, whose parts it should ask instead."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = "StreamplaceError"
METHODS = {
    *("removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "splitlines"),
    *("replace", "translate", "strip", "lstrip", "rstrip", "startswith", "endswith"),
    *("find", "rfind", "index", "rindex", "count"),
}
"""Methods of texts that read them."""
JOINING = {"split", "splitlines"}
"""Those that only join lines if they have no argument."""
PATTERNS = {"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
"""Functions of `re` and of patterns that read a text."""


def error_classes(trees: Iterable[ast.AST]) -> set[str]:
    """Return the names of the classes that derive from `StreamplaceError`."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found: set[str] = set()
    more = {ROOT}
    while more:
        found |= more
        more = {each.name for each in classes if not found.isdisjoint(names_in(each.bases))} - found
    return found


def names_in(nodes: Iterable[ast.AST | None]) -> set[str]:
    """Return the names in expressions, without the modules before them."""
    each = [part for node in nodes if node is not None for part in ast.walk(node)]
    names = {part.id for part in each if isinstance(part, ast.Name)}
    return names | {part.attr for part in each if isinstance(part, ast.Attribute)}


def readings_in(tree: ast.AST, errors: set[str]) -> list[int]:
    """Return the lines that take apart, search or compare the text of an error of ours.

    An error is what a handler of such a class or a parameter of such a type names, or what a call
    makes of it. Its text is `str` of it, a formatted text with it, `what` or `remedy` of its fault,
    or a name that one of these was assigned to. To split a text at white space, without a
    separator, only joins its lines.
    """
    found: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(type=kind, name=str(name)) if not errors.isdisjoint(
                names_in([kind])
            ):
                found |= {*_readings_of(name, node)}
            case ast.FunctionDef(args=arguments):
                for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    if not errors.isdisjoint(names_in([each.annotation])):
                        found |= {*_readings_of(each.arg, node)}
    return sorted(found)


def _readings_of(error: str, within: ast.AST) -> Iterator[int]:
    """Yield the lines that read the text of one error."""
    names, texts = {error}, set[str]()

    def is_error(node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and node.id in names

    def is_text(node: ast.AST | None) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[value]):
                return is_error(value)
            case ast.JoinedStr(values=values):
                parts = [each.value for each in values if isinstance(each, ast.FormattedValue)]
                return any(map(is_error, parts))
            case ast.Name(id=name):
                return name in texts
            case ast.Attribute(value=value, attr="args"):
                return is_error(value)
            case ast.Attribute(value=ast.Attribute(attr="fault"), attr="what" | "remedy"):
                return True
        return False

    for node in ast.walk(within):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                if is_text(value):
                    texts.add(name)
                elif is_error(value) or (
                    isinstance(value, ast.Call) and any(map(is_error, value.args))
                ):
                    names.add(name)
    for node in ast.walk(within):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
                joins = name in JOINING and not arguments
                if (name in METHODS and is_text(value) and not joins) or (
                    name in PATTERNS and any(map(is_text, arguments))
                ):
                    yield node.lineno
            case ast.Compare(left=left, comparators=others) if any(map(is_text, [left, *others])):
                yield node.lineno
            case ast.Subscript(value=value) if is_text(value):
                yield node.lineno


def message_readings(files: Iterable[Path]) -> list[str]:
    """Return the sites of files that read the text of an error of ours, as ``path:line``."""
    trees = {path: ast.parse(path.read_text()) for path in files}
    errors = error_classes(trees.values())
    return [f"{path}:{line}" for path, tree in trees.items() for line in readings_in(tree, errors)]
