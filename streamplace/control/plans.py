"""Plans: numbers of instances with their devices, and what they can carry."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from streamplace.control.observation import Observation

NUMBERS = ("rate_s", "carries_s", "now_carries_s", "price_s", "now_price_s")


@dataclass(frozen=True)
class Deployment:
    """Where the instances of all operators run.

    Parameters
    ----------
    hosts
        Operator -> the device of each of its instances, in order.
    """

    hosts: Mapping[str, tuple[str, ...]]

    @property
    def parallelism(self) -> dict[str, int]:
        """Operator -> number of its instances."""
        return {name: len(on) for name, on in self.hosts.items()}

    @property
    def devices(self) -> frozenset[str]:
        """The devices in use."""
        return frozenset(device for on in self.hosts.values() for device in on)

    @property
    def key(self) -> str:
        """A text that is equal for deployments that Flink cannot tell apart."""
        parts = (f"{name}={','.join(sorted(on))}" for name, on in sorted(self.hosts.items()))
        return ";".join(parts)

    @property
    def numbers_key(self) -> str:
        """A text that is equal for deployments with the same numbers of instances."""
        return ";".join(f"{name}={len(on)}" for name, on in sorted(self.hosts.items()))

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """Return the deployment of which `value` is the JSON value."""
        return cls({str(name): tuple(map(str, on)) for name, on in value["hosts"].items()})

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and devices as a JSON value."""
        return {
            "parallelism": self.parallelism,
            "hosts": {n: list(on) for n, on in self.hosts.items()},
        }


@dataclass(frozen=True)
class Plan:
    """A deployment for a rate, with what it and the present one carry in the same model.

    Parameters
    ----------
    rate_s
        Tuples per second that it was planned for.
    carries_s, now_carries_s
        Tuples per second at the sources that the plan sustains on its devices, and that the present
        deployment does.
    price_s, now_price_s
        Price per second of the devices in use.
    """

    deployment: Deployment
    rate_s: float
    carries_s: float
    now_carries_s: float
    price_s: float
    now_price_s: float

    def undone(self, before: Deployment) -> Self:
        """Return the plan that goes back to the deployment that this one replaced."""
        return replace(
            self,
            deployment=before,
            carries_s=self.now_carries_s,
            now_carries_s=self.carries_s,
            price_s=self.now_price_s,
            now_price_s=self.price_s,
        )

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """Return the plan of which `value` is the JSON value."""
        return cls(
            Deployment.from_dict(value["deployment"]), *(float(value[name]) for name in NUMBERS)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON value."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return {"deployment": self.deployment.to_dict(), **numbers}


class Planner(Protocol):
    """A source of plans."""

    def __call__(self, observation: Observation, rate_s: float, seconds: float, /) -> Plan | str:
        """Return a plan for an offered rate, or the reason why there is none, in words.

        Parameters
        ----------
        rate_s
            Tuples per second.
        seconds
            How long the search may take.
        """
        ...
