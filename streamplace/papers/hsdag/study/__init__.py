"""The study of HSDAG (structure-aware learned device placement)."""
