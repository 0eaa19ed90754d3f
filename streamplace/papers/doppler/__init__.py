"""DOPPLER (Yao et al., ICLR 2026): one network selects operators, another their devices."""
