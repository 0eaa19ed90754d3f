"""What decides, and the loop, know no engine: only `control/flink` imports what is Flink's."""

import ast
from pathlib import Path

import streamplace.control

CONTROL = Path(streamplace.control.__file__).parent
OF_ENGINES = ("streamplace.integrations", "streamplace.control.flink")


def test_only_the_folder_of_an_engine_imports_it() -> None:
    found = [
        f"{path.relative_to(CONTROL)} imports {module}"
        for path in CONTROL.rglob("*.py")
        if "flink" not in path.relative_to(CONTROL).parts
        for module in _imports(path)
        if module.startswith(OF_ENGINES)
    ]
    assert found == []


def _imports(path: Path) -> list[str]:
    """Return the modules that a file imports, also inside functions."""
    tree = ast.walk(ast.parse(path.read_text()))
    return [
        name
        for node in tree
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
