"""Registry of policy kinds, built-in and from installed packages, and errors from their code.

Configs and weights files refer to a kind by its name. Neither torch nor a network is imported
before a policy is created.
"""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SerializeAsAny, ValidationError, model_validator

from streamplace.errors import StreamplaceError, UsageError
from streamplace.learning.policy.config import DeviceScorerSizes, RebuildSizes, StrictModel
from streamplace.learning.policy.config import PolicyKind as PolicyKind  # noqa: PLC0414 - packages import it here
from streamplace.util import entry_points
from streamplace.util.plugins import installed, load_installed, load_ours, named_fault, names_of
from streamplace.util.suggest import valid_choices

if TYPE_CHECKING:
    from streamplace.learning.policy.base import AnyPolicy

GROUP = "streamplace.policies"
"""The entry-point group in which installed packages register kinds."""
LISTED_FAULTS = "streamplace.files.form_faults:listed_faults"
"""Returns what is wrong with a section; loaded once something is."""


class _Kinds(MutableMapping[str, PolicyKind]):
    """Kinds by name, of which those named by a path are loaded when they are used."""

    def __init__(self, known: Mapping[str, PolicyKind | str]) -> None:
        self._known = dict(known)

    def __getitem__(self, name: str) -> PolicyKind:
        kind = self._known[name]
        if isinstance(kind, str):
            kind = self._known[name] = load_ours(kind)
        assert isinstance(kind, PolicyKind)
        return kind

    def __setitem__(self, name: str, kind: PolicyKind) -> None:
        self._known[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known


KINDS = _Kinds(
    {
        "device-scorer": PolicyKind(
            DeviceScorerSizes,
            "streamplace.learning.policy.device_scorer.network:DeviceScorer",
            "streamplace.learning.policy.device_scorer.stacked:StackedScorer",
        ),
        "rebuild": PolicyKind(
            RebuildSizes, "streamplace.learning.policy.rebuild.policy:Rebuild", refines=True
        ),
        **entry_points.ours(GROUP),
    }
)
"""The built-in kinds by name."""


def policy_kind(name: str) -> PolicyKind:
    """Return a kind by its name. Built-in kinds take precedence over those of packages.

    Raises
    ------
    UsageError
        If no kind has this name, or a package registers something else under it.
    """
    if name in KINDS:
        return KINDS[name]
    points = installed(GROUP)
    if name not in points:
        choices = valid_choices(name, names_of(GROUP, KINDS))
        raise UsageError(f"unknown policy {name!r:.80}{choices}")
    loaded = load_installed(points[name], "policy")
    if not isinstance(loaded, PolicyKind):
        fault = "must be a streamplace.learning.policy.registry.PolicyKind"
        raise UsageError(f"policy {name!r}: {points[name].value} {fault}")
    if not (isinstance(loaded.sizes, type) and issubclass(loaded.sizes, BaseModel)):
        fault = "sizes must be a subclass of pydantic.BaseModel"
        raise UsageError(f"policy {name!r}: {points[name].value}: {fault}")
    return loaded


def kinds_for(quantity: str) -> list[str]:
    """Return the built-in kinds that support objectives of a quantity; see `Objective`."""
    supported = {name: load_ours(kind.policy).quantities() for name, kind in KINDS.items()}
    return [name for name, some in supported.items() if some is None or quantity in some]


class PolicySection(StrictModel):
    """The kind and sizes of a policy, as in a config or a weights file."""

    kind: str
    sizes: SerializeAsAny[BaseModel]

    @model_validator(mode="before")
    @classmethod
    def _with_sizes(cls, value: Any) -> Any:
        """Validate the sizes with the model of the kind."""
        if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
            return value
        try:
            model = policy_kind(value["kind"]).sizes
        except UsageError as error:
            raise ValueError(f"kind: {error}") from None
        sizes = value.get("sizes", {})
        if isinstance(sizes, dict):
            sizes = _checked(value["kind"], model, sizes)
        if not isinstance(sizes, model):
            raise ValueError(f"sizes: must be the sizes of {value['kind']!r}")
        return {**value, "sizes": sizes}


def _checked(kind: str, model: type[BaseModel], sizes: dict[str, Any]) -> BaseModel:
    try:
        with named_fault("policy", kind, "validating its sizes failed"):
            try:
                return model.model_validate(sizes)
            except ValidationError as error:
                fault = load_ours(LISTED_FAULTS)(error, model, "sizes")
    except UsageError as error:
        raise ValueError(str(error)) from None
    raise ValueError(fault)


def policy_section(value: object) -> PolicySection:
    """Validate a JSON value such as ``{"kind": …, "sizes": {…}}`` and return it as a section.

    Raises
    ------
    ValueError
        If the value is not a valid section. The message names the field at fault.
    """
    try:
        return PolicySection.model_validate(value)
    except ValidationError as error:
        raise ValueError(load_ours(LISTED_FAULTS)(error, PolicySection)) from None


def make_policy(section: PolicySection) -> "AnyPolicy":
    """Create a policy with random weights, drawn from torch's global generator.

    Raises
    ------
    UsageError
        If the kind comes from a package whose policy cannot be imported, whose class fails on these
        sizes, or whose class does not create a policy.
    """
    return _make(section.kind, policy_kind(section.kind).policy, section.sizes)


def make_stack(kind: str, policies: Sequence["AnyPolicy"]) -> "AnyPolicy | None":
    """Stack policies of one kind and the same sizes; return None if the kind has no stack.

    Raises
    ------
    UsageError
        If the class of the stack cannot be imported, fails, or does not create a policy.
    """
    path = policy_kind(kind).stack
    return _make(kind, path, policies) if path else None


def _make(kind: str, path: str, argument: object) -> "AnyPolicy":
    """Call a class with its argument, and report an error of a user-defined class in one line."""
    if kind in KINDS:
        policy: AnyPolicy = load_ours(path)(argument)
        return policy
    with named_fault("policy", kind, f"loading {path} failed"):
        cls = load_ours(path)
    with named_fault("policy", kind, "its constructor failed"):
        made = cls(argument)
    return _checked_policy(made, kind, path)


def _checked_policy(made: Any, kind: str, path: str) -> "AnyPolicy":
    from streamplace.learning.policy.base import Constructive, Refiner  # noqa: PLC0415 - torch is heavy

    if not isinstance(made, Refiner if policy_kind(kind).refines else Constructive):
        kinds = "Refiner" if policy_kind(kind).refines else "Constructive"
        fault = f"must return a streamplace.learning.policy.base.{kinds}"
        raise UsageError(f"policy {kind!r}: {path} {fault}")
    return made


@contextmanager
def faults_of(policy: object, activity: str) -> Iterator[None]:
    """Convert exceptions from a user-defined policy into a UsageError.

    A `StreamplaceError`, and any exception from a built-in policy, propagates unchanged.

    Parameters
    ----------
    activity
        A noun for the message, such as ``placing``.

    Raises
    ------
    UsageError
        If the code of a user-defined policy raises an exception.
    MemoryError
        If it runs out of memory.
    """
    cls = type(policy)
    try:
        yield
    except StreamplaceError:
        raise
    except (Exception, SystemExit):
        if cls.__module__.startswith("streamplace."):
            raise
        with named_fault("policy", f"{cls.__module__}:{cls.__qualname__}", f"{activity} failed"):
            raise
