"""Several jobs on one cluster: placement, shares and losses."""
