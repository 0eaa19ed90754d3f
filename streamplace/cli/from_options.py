"""What options describe: clusters, losses and objectives."""

from math import nan
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from streamplace.problem.cluster import Cluster
    from streamplace.problem.losses import Losses
    from streamplace.problem.objective import Objective


def the_losses(without: str | None, slow: str | None) -> "Losses":
    """Return the lost and slow devices that the options name."""
    from streamplace.problem.losses import Losses  # noqa: PLC0415 - slow to load

    if without is not None and not all(without.split(",")):
        raise click.UsageError(f"--without: expected device names (got {without!r})")
    shares: dict[str, float] = {}
    for part in [] if slow is None else slow.split(","):
        name, equals, text = part.rpartition("=")
        try:
            share = float(text)
        except ValueError:
            share = nan
        if not equals or not 0 < share <= 1:
            expected = "expected NAME=SHARE with a share above 0, at most 1, such as rack2=0.5"
            raise click.UsageError(f"--slow: {expected} (got {part!r})")
        shares[name] = share
    return Losses(() if without is None else tuple(without.split(",")), shares)


def the_cluster(cluster_file: str | None, devices: str | None) -> "Cluster | None":
    """Return the cluster that the options describe; None without either option."""
    if cluster_file is not None and devices is not None:
        raise click.UsageError("cannot combine --cluster with --devices")
    if devices is not None:
        from streamplace.errors import ClusterError  # noqa: PLC0415
        from streamplace.problem.cluster import Cluster  # noqa: PLC0415 - slow to load

        try:
            return Cluster.parse(devices)
        except ClusterError as error:
            raise ClusterError(f"--devices: {str(error).removeprefix('devices: ')}") from None
    if cluster_file is not None:
        from streamplace.files import read_cluster  # noqa: PLC0415

        return read_cluster(cluster_file)
    return None


def the_objective(text: str | None) -> "Objective | None":
    """Return the objective that --objective names; None without the option."""
    if text is None:
        return None
    from streamplace.problem.objectives import make_objective  # noqa: PLC0415 - slow to load

    return make_objective(text)
