"""Modules that run by a placement: each operator on its device."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.export.graph_signature import OutputKind
from torch.fx import Interpreter, Node, map_arg

from streamplace.errors import GraphError, UsageError
from streamplace.networks.torch.calls import changed_in_place, check_apart, origin_of
from streamplace.networks.torch.graph import operators_of
from streamplace.networks.torch.program import as_graph_error, export
from streamplace.problem.graph_checks import listed


class PlacedModule(Interpreter):
    """A PyTorch module whose operators run on the devices of a placement.

    A call returns what the module returns, and changes what the module changes in place: inputs,
    and the module's own buffers and parameters, which both share. A changed input that the module
    returns is returned as another tensor. The exported graph runs node by node, in Python. A tensor
    moves to the devices of the operators that read it, once per call and device; parameters, and
    buffers that no call changes, move in the first call only. Results stay on the devices that
    computed them.

    Parameters
    ----------
    module, example_inputs
        See `from_module`. Inputs of calls have the same nesting, shapes and types, and the same
        values where they are not tensors, because these values are constants of the graph. So are
        the attributes of the module that are not tensors, and whether it is in training mode.
    assignment
        Operator -> device, such as `Placement.assignment`.
    devices
        Device of the assignment -> device of PyTorch, such as ``cuda:0``.

    Raises
    ------
    GraphError
        See `from_module`; also if the operators are not those of the module.
    UsageError
        If `devices` lacks a device, or PyTorch cannot use one.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: Sequence[Any],
        assignment: Mapping[str, str],
        devices: Mapping[str, str],
    ) -> None:
        self._program = export(module, example_inputs)
        super().__init__(self._program.exported.graph_module)
        self._operators = operators_of(self._program)
        self._changes = changed_in_place(self._program.exported)
        self._kept = self._program.stored.keys() - self._changes.values()
        self._copies: dict[tuple[Node, torch.device], torch.Tensor] = {}
        self.place(assignment, devices)

    def place(self, assignment: Mapping[str, str], devices: Mapping[str, str]) -> None:
        """Run by another placement from now on; parameters that have moved keep their copies.

        Raises
        ------
        GraphError, UsageError
            As the constructor.
        """
        _check_operators(self._operators, assignment)
        usable = _usable(devices, assignment.values())
        self._where = {node: usable[assignment[name]] for name, node in self._operators.items()}

    @property
    def devices(self) -> set[torch.device]:
        """The devices of PyTorch that the placement uses."""
        return {*self._where.values()}

    def __call__(self, *inputs: Any) -> Any:
        """Run the module; it may be any number of times.

        Raises
        ------
        GraphError
            If the inputs are not of the form of the example inputs, if one of them shares memory
            with another tensor that the module changes in place, or if the module does not run on
            them.
        """
        exported = self._program.exported
        arguments = self._program.arguments(inputs)
        changed = {name: arguments[name] for name in self._changes.values()}
        check_apart({name: arguments[name] for name in self._program.accepted.leaves}, changed)
        # the graph reads copies, because gradients may need the old values once more
        arguments |= {name: tensor.clone() for name, tensor in changed.items()}
        try:
            with as_graph_error(inputs):
                results = self.run(*arguments.values())
                self._write(changed, results)
        finally:  # parameters stay where they are
            self._copies = {at: copy for at, copy in self._copies.items() if self._is_kept(at[0])}
        specs = exported.graph_signature.output_specs
        own = [
            result
            for result, spec in zip(results, specs, strict=True)
            if spec.kind is OutputKind.USER_OUTPUT
        ]
        return torch.utils._pytree.tree_unflatten(own, exported.call_spec.out_spec)  # noqa: SLF001 - torch.export itself returns such trees

    def _write(self, changed: Mapping[str, torch.Tensor], results: Sequence[Any]) -> None:
        """Write the new values of the tensors that the module changes in place."""
        parameters = self._program.exported.graph_signature.inputs_to_parameters
        for position, name in self._changes.items():
            tensor = changed[name]
            if name in parameters:  # which modules change outside of gradients
                tensor = tensor.detach()
            tensor.copy_(results[position])

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what a node reads; what an operator reads is on its device."""
        args, kwargs = super().fetch_args_kwargs_from_env(n)
        device = self._where.get(n)
        if device is not None and "device" in kwargs:  # an operator that makes a tensor
            kwargs = {**kwargs, "device": device}
        return args, kwargs

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Replace nodes by their values, on the device of the node `n` that reads them."""
        device = self._where.get(n)
        if device is None:  # a view or the end of the graph, which moves nothing
            return super().map_nodes_to_values(args, n)
        return map_arg(args, lambda read: self._on(device, read))

    def _on(self, device: torch.device, node: Node) -> Any:
        """Return the value of a node on a device."""
        value = self.env[node]
        if not isinstance(value, torch.Tensor) or value.device == device:
            return value
        if (node, device) not in self._copies:
            # the CPU does not wait for a copy from a GPU by itself
            self._copies[node, device] = value.to(device, non_blocking=device.type != "cpu")
        return self._copies[node, device]

    def _is_kept(self, node: Node) -> bool:
        """Return whether a node is a parameter or buffer that stays as it is, or a view of one."""
        return origin_of(node)[0].name in self._kept


def _check_operators(operators: Iterable[str], assignment: Mapping[str, str]) -> None:
    """Refuse an assignment of other operators."""
    missing = [name for name in operators if name not in assignment]
    unknown = sorted(set(assignment) - set(operators))
    if missing:
        raise GraphError(f"the placement has no device for {listed(missing)} of this module")
    if unknown:
        raise GraphError(f"the placement has operators that this module lacks: {listed(unknown)}")


def _usable(devices: Mapping[str, str], used: Iterable[str]) -> dict[str, torch.device]:
    """Return PyTorch's devices by the names in use; refuse a missing or an unusable one."""
    found = {}
    for name in dict.fromkeys(used):
        if name not in devices:
            raise UsageError(f"no device of PyTorch for {name!r}; devices has {listed(devices)}")
        try:
            found[name] = torch.empty(0, device=devices[name]).device
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            line = str(error).strip().partition("\n")[0]
            raise UsageError(f"PyTorch cannot use {devices[name]!r} for {name!r}: {line}") from None
    return found
