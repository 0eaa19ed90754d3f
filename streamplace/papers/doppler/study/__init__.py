"""The study of DOPPLER (Yao et al., ICLR 2026)."""
