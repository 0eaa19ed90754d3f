"""METIS and the other solvers on problems of odd shapes."""
