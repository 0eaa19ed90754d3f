"""Studies: published experiments with their protocols, beside the published figures.

A `Study` plans units of work that do not depend on each other, runs one, and turns the rows of all
of them into tables, pictures and findings. `run_study` runs the units on several processes, keeps
each result in a folder as soon as it is known, and resumes where an earlier run ended.
"""
