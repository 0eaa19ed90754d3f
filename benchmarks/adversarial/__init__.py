"""Adversarial search: the problems on which one placer is worst beside another one."""
