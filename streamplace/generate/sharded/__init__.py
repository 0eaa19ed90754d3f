"""Families of sharded tensor operations, as in DOPPLER (Yao et al., ICLR 2026)."""
