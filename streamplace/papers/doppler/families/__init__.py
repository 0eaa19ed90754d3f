"""Sharded products of tensors, as in DOPPLER (Yao et al., ICLR 2026)."""
