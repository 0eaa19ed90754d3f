"""One pass of a graph: its schedule, makespan and total cost, and the placers for them."""

__all__ = ["evaluator", "pipeline", "rebuilding", "score", "total_cost"]
