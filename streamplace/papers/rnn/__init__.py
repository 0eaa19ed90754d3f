"""The RNN placer of GiPH (Hu et al. 2023): a network that is trained on one problem."""
