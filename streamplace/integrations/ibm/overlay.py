"""Writer of IBM Streams job configuration overlays, which set the number of PEs."""

from streamplace.files.json_text import to_json
from streamplace.problem.placement import Placement


def write(placement: Placement) -> str:
    """Return an overlay that requests the placement's number of PEs.

    The overlay does not assign operators to PEs; the clauses that ``ibm-spl`` writes do.
    """
    deployment = {"fusionScheme": "manual", "fusionTargetPeCount": len(placement.pes)}
    return to_json({"jobConfigOverlays": [{"jobConfig": {}, "deploymentConfig": deployment}]})
