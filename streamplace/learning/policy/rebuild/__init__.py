"""A policy that builds parts of a placement anew by list scheduling."""
