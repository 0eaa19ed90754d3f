"""IBM Streams's job configuration overlay: how many PEs the fuser is to make."""

from streamplace.files.reading import to_json
from streamplace.problem.placement import Placement


def write(placement: Placement) -> str:
    """Return an overlay that asks for as many PEs as the placement has.

    Which operator goes into which PE, it does not say: that is in the clauses of ``ibm-spl``.
    """
    deployment = {"fusionScheme": "manual", "fusionTargetPeCount": len(placement.pes)}
    return to_json({"jobConfigOverlays": [{"jobConfig": {}, "deploymentConfig": deployment}]})
