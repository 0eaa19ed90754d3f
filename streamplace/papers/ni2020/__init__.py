"""The encoder-decoder policies of Ni et al. (AAAI 2020)."""
