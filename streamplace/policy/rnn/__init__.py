"""The RNN placer of GiPH (Hu et al., MLSys 2023): an LSTM encoder, and a decoder with attention."""
