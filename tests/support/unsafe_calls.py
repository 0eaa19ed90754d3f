"""A scan of the source for calls that could execute the content of a file."""

import ast
from collections.abc import Container, Iterator, Mapping

PICKLING_MODULES = (
    "pickle",
    "cPickle",
    "_pickle",
    "cloudpickle",
    "dill",
    "jsonpickle",
    "marshal",
    "shelve",
)
EXECUTING_BUILTINS = ("eval", "exec", "compile", "__import__", "execfile")
RUNNING_MODULES = ("runpy", "code", "subprocess", "pty")
LIBRARY_LOADERS = ("ctypes.CDLL", "ctypes.PyDLL", "ctypes.cdll.LoadLibrary")
REFUSED_NAMES = (  # beginnings of full names
    "torch.load",
    "torch.jit.load",
    "torch.package",
    "torch.hub",
    "joblib.load",
    "pandas.read_pickle",
    "os.system",
    "os.popen",
    "os.execv",
    "yaml.load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "yaml.Loader",
    "yaml.FullLoader",
    "yaml.UnsafeLoader",
    "yaml.CLoader",
    "importlib.",
    "builtins.",
)
NUMPY_LOADERS = ("load", "NpzFile", "read_array", "fromregex")  # unpickle with allow_pickle=True
IMPORT_BY_NAME = {  # files that may import modules whose names come from the code or the user
    "sim/kernels/signatures.py",
    "streamplace/util/lazy.py",
    "streamplace/util/plugins.py",
}
RUN_PROGRAMS = {  # files that run the user's commands, or this Python
    "sim/kernels/__main__.py",
    "streamplace/execution/commands.py",
}
UNPICKLE = {
    "sim/kernels/numba_private.py"
}  # files that load compiled kernels, which are code themselves
PERMITTED = {
    "importlib.import_module": IMPORT_BY_NAME,
    "subprocess": RUN_PROGRAMS,
    "pickle": UNPICKLE,
}  # name -> files that may import it


def calls_that_execute(source: str, permitted: Container[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every call that could execute the content of a file.

    Parameters
    ----------
    permitted
        Names that this file may import.
    """
    tree = ast.parse(source)
    imported = [*_imported(tree)]
    names = {local_name: full_name for _, local_name, full_name in imported}
    for line, _, full_name in imported:
        module = full_name.partition(".")[0]
        unsafe = module in (*PICKLING_MODULES, *RUNNING_MODULES)
        if (
            unsafe or full_name in (*REFUSED_NAMES, "importlib.import_module")
        ) and full_name not in permitted:
            yield line, f"imports {full_name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in EXECUTING_BUILTINS:
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and _full_name(node, names).startswith(REFUSED_NAMES):
            yield node.lineno, _full_name(node, names)
        elif isinstance(node, ast.Call) and (what := _unsafe(node, _full_name(node.func, names))):
            yield node.lineno, what


def _unsafe(call: ast.Call, full_name: str) -> str:
    """Return the unsafe arguments of a call as text; empty if there are none."""
    flags = [k.value for k in call.keywords if k.arg == "allow_pickle"]
    allowed = [getattr(value, "value", None) for value in flags] != [False]
    if full_name.startswith("numpy.") and full_name.rpartition(".")[2] in NUMPY_LOADERS and allowed:
        return f"{full_name} without allow_pickle=False"
    if flags and allowed:
        return f"{full_name} with allow_pickle"
    if full_name in LIBRARY_LOADERS and [getattr(x, "value", "") for x in call.args] != [None]:
        return f"{full_name} may load a library from a file (only {full_name}(None) is allowed)"
    return ""


def _imported(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Yield the line, local name and full name of every import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield node.lineno, alias.asname or first, alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, alias.asname or alias.name, f"{node.module}.{alias.name}"


def _full_name(node: ast.AST, names: Mapping[str, str]) -> str:
    """Return the full dotted name of an expression; empty if it is not a name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute) and (before := _full_name(node.value, names)):
        return f"{before}.{node.attr}"
    return ""
