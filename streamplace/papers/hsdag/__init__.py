"""HSDAG (Duan et al. 2024): learned groups of operators, and a device for each group."""
