"""WfFormat and DAX: workflows, and recorded runs of them."""
