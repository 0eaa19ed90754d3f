"""Placeto (Addanki et al. 2019): a policy that revises one operator's device after another."""
