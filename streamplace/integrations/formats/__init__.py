"""Graph exchange formats: DOT, GraphML and WfFormat."""
