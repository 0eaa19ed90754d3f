"""The experiments of Ni et al. (AAAI 2020): Table 1, and Figures 5 and 6."""
