"""The data model: graphs, clusters, constraints, objectives, problems and placements."""
