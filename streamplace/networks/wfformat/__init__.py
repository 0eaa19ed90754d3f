"""WfFormat: recorded runs of workflows."""
