"""GiPH (Hu et al. 2023): a policy that relocates one operator after another on any cluster."""
