"""METIS and the other solvers on unusual problems."""
