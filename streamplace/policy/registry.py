"""The kinds of policies: ours, and those that installed packages register.

A kind is reached by its name alone: in a config, and in a file of weights. Neither torch nor a
network is imported before a policy is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SerializeAsAny, ValidationError, model_validator

from streamplace.errors import UsageError
from streamplace.files.form_faults import first_fault
from streamplace.policy.config import DeviceScorerSizes, EncoderDecoderSizes, StrictModel
from streamplace.util.plugins import installed, load_installed, load_ours, named_fault, names_of
from streamplace.util.suggest import valid_choices

if TYPE_CHECKING:
    from streamplace.policy.base import AnyPolicy

GROUP = "streamplace.policies"
"""The entry points by which installed packages register kinds."""


@dataclass(frozen=True)
class PolicyKind:
    """A kind of policy.

    Parameters
    ----------
    sizes
        The form of its sizes, a pydantic model; every size has a default.
    policy
        ``module:Class``, a subclass of `policy.base.Constructive` that is made of sizes.
    stack
        ``module:Class``, a policy that is made of several policies and is a stack of them, see
        `policy.stacking`; empty if there is none.
    """

    sizes: type[BaseModel]
    policy: str
    stack: str = ""


KINDS = {
    "device-scorer": PolicyKind(
        DeviceScorerSizes,
        "streamplace.policy.device_scorer.network:DeviceScorer",
        "streamplace.policy.device_scorer.stacked:StackedScorer",
    ),
    "encoder-decoder": PolicyKind(
        EncoderDecoderSizes, "streamplace.policy.ni2020.network:EncoderDecoder"
    ),
}
"""Our kinds, by name."""


def policy_kind(name: str) -> PolicyKind:
    """Return a kind by its name; ours come before those of installed packages.

    Raises
    ------
    UsageError
        If there is none of that name, or what a package registers is none.
    """
    if name in KINDS:
        return KINDS[name]
    there = installed(GROUP)
    if name not in there:
        choices = valid_choices(name, names_of(GROUP, KINDS))
        raise UsageError(f"no policy is called {name!r:.80}{choices}")
    found = load_installed(there[name], "policy")
    if not isinstance(found, PolicyKind):
        wanted = "must be a streamplace.policy.registry.PolicyKind"
        raise UsageError(f"policy {name!r}: {there[name].value} {wanted}")
    if not (isinstance(found.sizes, type) and issubclass(found.sizes, BaseModel)):
        wanted = "its sizes must be a subclass of pydantic.BaseModel"
        raise UsageError(f"policy {name!r}: {there[name].value}: {wanted}")
    return found


class PolicySection(StrictModel):
    """The policy of a config or of a file of weights: its kind, and its sizes."""

    kind: str
    sizes: SerializeAsAny[BaseModel]

    @model_validator(mode="before")
    @classmethod
    def _with_sizes(cls, value: Any) -> Any:
        """Check the sizes by the form of the kind."""
        if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
            return value
        try:
            form = policy_kind(value["kind"]).sizes
        except UsageError as error:
            raise ValueError(f"kind: {error}") from None
        sizes = value.get("sizes", {})
        if isinstance(sizes, dict):
            sizes = _checked(value["kind"], form, sizes)
        if not isinstance(sizes, form):
            raise ValueError(f"sizes: must be those of {value['kind']!r}")
        return {**value, "sizes": sizes}


def _checked(kind: str, form: type[BaseModel], sizes: dict[str, Any]) -> BaseModel:
    try:
        with named_fault("policy", kind, "its sizes failed"):
            try:
                return form.model_validate(sizes)
            except ValidationError as error:
                fault = first_fault(error, form, "sizes")
    except UsageError as error:
        raise ValueError(str(error)) from None
    raise ValueError(fault)


def policy_section(value: object) -> PolicySection:
    """Return a checked section from a JSON value, as ``{"kind": …, "sizes": {…}}``.

    Raises
    ------
    ValueError
        If it is none, with the place of the fault.
    """
    try:
        return PolicySection.model_validate(value)
    except ValidationError as error:
        raise ValueError(first_fault(error, PolicySection)) from None


def make_policy(section: PolicySection) -> "AnyPolicy":
    """Return a policy with random weights, of torch's global generator.

    Raises
    ------
    UsageError
        If the package of a kind that is not ours cannot be imported, its class refuses the sizes,
        or makes no policy.
    """
    return _made(section.kind, policy_kind(section.kind).policy, section.sizes)


def make_stack(kind: str, policies: Sequence["AnyPolicy"]) -> "AnyPolicy | None":
    """Return policies of one kind, and of the same sizes, as a stack; None if the kind has none.

    Raises
    ------
    UsageError
        If the class of the stack cannot be imported, fails, or makes no policy.
    """
    path = policy_kind(kind).stack
    return _made(kind, path, policies) if path else None


def _made(kind: str, path: str, argument: object) -> "AnyPolicy":
    """Return what a class makes of its argument; the fault of a user's class is one line."""
    if kind in KINDS:
        ours: AnyPolicy = load_ours(path)(argument)
        return ours
    with named_fault("policy", kind, f"loading {path} failed"):
        cls = load_ours(path)
    with named_fault("policy", kind, "its constructor failed"):
        made = cls(argument)
    return _checked_policy(made, kind, path)


def _checked_policy(made: Any, kind: str, path: str) -> "AnyPolicy":
    from streamplace.policy.base import Constructive  # noqa: PLC0415 - torch is heavy

    if not isinstance(made, Constructive):
        wanted = "makes no streamplace.policy.base.Constructive"
        raise UsageError(f"policy {kind!r}: {path} {wanted}")
    return made
