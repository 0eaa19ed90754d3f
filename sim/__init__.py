"""Array kernels for scoring, simulation, local search and proofs of optimality."""
