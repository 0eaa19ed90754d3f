"""Faults of readers, writers and wrappers, one at a time, which their targets must find."""

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any


@dataclass(frozen=True)
class Fault:
    """A change of the source of a function, as a programmer could make it by mistake.

    Parameters
    ----------
    what
        The mistake.
    target
        The target that must find it.
    function
        ``module:name`` of the function, or of the property or method of a class.
    old, new
        A part of its source, and what stands there by mistake.
    """

    what: str
    target: str
    function: str
    old: str
    new: str

    @contextmanager
    def made(self) -> Iterator[None]:
        """Make the mistake for the block, wherever the function is used."""
        module, _, path = self.function.partition(":")
        found: Any = reduce(getattr, path.split("."), import_module(f"streamplace.{module}"))
        found = found.fget if isinstance(found, property) else inspect.unwrap(found)
        function = getattr(found, "__func__", found)  # of a method of a class
        before = function.__code__
        function.__code__ = self._changed(function)
        try:
            yield
        finally:
            function.__code__ = before

    def _changed(self, function: FunctionType) -> CodeType:
        source = textwrap.dedent(inspect.getsource(function))
        assert source.count(self.old) == 1, f"{self.function} has no {self.old!r}, or several"
        source = source[source.index("def ") :].replace(self.old, self.new)
        changed = compile(source, inspect.getfile(function), "exec")
        return next(each for each in changed.co_consts if isinstance(each, CodeType))


FAULTS = (
    Fault(
        "an exception of another library is not caught",
        "reader columns",
        "files.npz:read_arrays",
        "except BROKEN",
        "except KeyError",
    ),
    Fault(
        "deep nesting is not caught",
        "reader graph",
        "files.reading:parse",
        "except RecursionError",
        "except MemoryError",
    ),
    Fault(
        "text of another encoding is not caught",
        "reader cluster",
        "files.reading:decode",
        "except UnicodeDecodeError",
        "except UnicodeEncodeError",
    ),
    Fault(
        "keys of YAML are not checked",
        "reader storm-flux",
        "formats.yaml:_object",
        "if not isinstance(key, yaml.ScalarNode)",
        "if key is None",
    ),
    Fault(
        "a name of DOT is not checked",
        "reader dot",
        "formats.dot:_Parser.name",
        "if self.next.kind not in IDS",
        "if self.next is None",
    ),
    Fault(
        "an unknown node is not noticed",
        "reader kafka-streams",
        "engines.kafka.streams:read",
        "if name not in nodes",
        "if not name",
    ),
    Fault(
        "a number in text is not checked",
        "reader pipedream",
        "networks.pipedream:_number",
        "if not DECIMAL.fullmatch(text)",
        "if not text",
    ),
    Fault(
        "only the beginning of a number is checked",
        "reader doppler",
        "networks.doppler:_number",
        "_NUMBER.fullmatch(text)",
        "_NUMBER.match(text)",
    ),
    Fault(
        "a number is taken for text",
        "reader kubernetes-nodes",
        "engines.kubernetes.quantity:number_of",
        "if not isinstance(value, str)",
        "if value is None",
    ),
    Fault(
        "a TaskManager without a total is not noticed",
        "reader flink-taskmanagers",
        "engines.flink.taskmanagers:_add",
        "total is None or free is None or not total.cores",
        "total is None",
    ),
    Fault(
        "an amount of a resource is not checked",
        "reader storm-supervisors",
        "engines.storm.settings:generic_amounts",
        " if name and DECIMAL.fullmatch(amount)",
        "",
    ),
    Fault(
        "a value that is no list is not noticed",
        "reader ray-nodes",
        "engines.ray.nodes:read",
        "if not isinstance(value, list)",
        "if value is None",
    ),
    Fault(
        "a node without CPUs is not noticed",
        "reader slurm-nodes",
        "engines.slurm.nodes:read",
        "if not cpus",
        "if cpus == -1",
    ),
    Fault(
        "a number of CPUs is not checked",
        "reader lscpu",
        "engines.host.lscpu:_count",
        "text and text.isascii() and text.isdigit()",
        "text",
    ),
    Fault(
        "numbers that are not finite are read",
        "reader log",
        "files.training_logs:_step",
        "if all(map(isfinite, found.values())) else None",
        "if found else None",
    ),
    Fault(
        "the type of a value is not checked",
        "reader journal",
        "control.journal:_entry",
        "if isinstance(value, dict) else None",
        "",
    ),
    Fault(
        "a broken CSV file is not caught",
        "reader costs",
        "formats.tables:table_of",
        "except csv.Error",
        "except KeyError",
    ),
    Fault(
        "an unknown key of XML is not noticed",
        "reader graphml",
        "formats.graphml:_attributes",
        "if key not in keys",
        "if not key",
    ),
    Fault(
        "characters that XML cannot hold are written",
        "writer export graphml",
        "formats.graphml:to_text",
        "_NOT_IN_XML.search(text)",
        "None",
    ),
    Fault(
        "a size is not checked",
        "reader openvino",
        "networks.openvino:_size",
        "if not _SIZE.fullmatch(text)",
        "if not text",
    ),
    Fault(
        "a binary file of another kind is not caught",
        "reader onnx",
        "networks.onnx.model:_model",
        "except DecodeError",
        "except KeyError",
    ),
    Fault(
        "quotes in a name are not escaped",
        "writer export dot",
        "formats.dot:_quoted",
        ".replace('\"', '\\\\\"')",
        "",
    ),
    Fault(
        "an escape has too few digits",
        "writer export flink",
        "engines.flink.slot_groups:_key",
        "{units[i]:02x}",
        "{units[i]:x}",
    ),
    Fault(
        "labels are separated by commas",
        "writer export flink-config",
        "engines.flink.slot_groups:write_configuration",
        "';'.join(labels)",
        "','.join(labels)",
    ),
    Fault(
        "names that are part of others are not noticed",
        "writer export capsys",
        "engines.capsys.schedule:write",
        "_check_parts(tasks)",
        "pass",
    ),
    Fault(
        "shares of a core instead of percent",
        "writer export storm-ras",
        "engines.storm.ras:executors_of",
        " * 1e6) * CORE",
        " * 1e6)",
    ),
    Fault(
        "cores instead of millicores",
        "writer export kubernetes",
        "engines.kubernetes.deployments:Pods.requests",
        "self.cores * 1000",
        "self.cores",
    ),
    Fault(
        "words of a shell are not quoted",
        "writer export ray",
        "engines.ray.options:write",
        'shlex.join(["ray", "start", _offer(name)])',
        '" ".join(["ray", "start", _offer(name)])',
    ),
    Fault(
        "a name is not escaped in SPL",
        "writer export ibm-spl",
        "engines.ibm.spl:_text",
        "json.dumps(name)",
        "f'\"{name}\"'",
    ),
    Fault(
        "devices without operators count",
        "writer export ibm-overlay",
        "engines.ibm.spl:write_overlay",
        "len(placement.pes)",
        "len(placement.problem.cluster.devices)",
    ),
    Fault(
        "a file is written in place",
        "writer file placement",
        "files.writing:_replacing",
        "temporary.replace(target)",
        "target.write_bytes(temporary.read_bytes())",
    ),
    Fault(
        "devices are in another order than operators",
        "writer file placement-columns",
        "files.placement_columns:read_placement_columns",
        "at = columns[DEVICES]",
        "at = columns[DEVICES][::-1]",
    ),
    Fault(
        "an error of the disk is swallowed",
        "writer file cluster",
        "files.writing:atomic",
        'raise FormatError(f"{path}: cannot write: {_reason(path, error)}") from None',
        "return",
    ),
    Fault(
        "a temporary file is left",
        "writer file dataset",
        "files.writing:_made",
        "later.callback(temporary.unlink, missing_ok=True)",
        "pass",
    ),
    Fault(
        "markup in names is not escaped",
        "writer file report",
        "reports.html:_json",
        '.replace("<", "\\\\u003c")',
        "",
    ),
    Fault(
        "parts are numbered from 1",
        "wrapper METIS",
        "placers.partition.cut:WeightedGraph.partition",
        "return assigned",
        "return assigned + 1",
    ),
    Fault(
        "units are placed on devices that the solver did not choose",
        "wrapper CP-SAT",
        "placers.exact.cp_sat:Model.search",
        ".argmax(axis=1)",
        ".argmin(axis=1)",
    ),
    Fault(
        "an option of a shape is not checked",
        "wrapper torch",
        "formats.sizes:shape_from",
        "if not SHAPE.fullmatch(sizes)",
        "if not text",
    ),
    Fault(
        "results in the order in which they end",
        "wrapper local",
        "execution.parallel:_on_processes",
        "return_as=work.return_as",
        'return_as="generator_unordered"',
    ),
)
