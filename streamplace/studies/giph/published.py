"""Figures of GiPH's paper (Hu et al., MLSys 2023) that the study repeats."""

WINS = {
    "GiPH-3": (53.0, 7.0, 40.0),
    "GiPH-5": (55.2, 6.4, 38.4),
    "GiPH-NE": (74.8, 2.4, 22.8),
    "GiPH-NE-Pol": (60.6, 6.0, 33.4),
    "GiPH-task-EFT": (82.2, 3.0, 14.8),
    "HEFT": (59.0, 5.2, 35.8),
}
"""Table 6: rival -> percent of 1,000 cases on which GiPH is better, equal and worse."""

SECONDS = {
    "GiPH": 0.340,
    "GiPH-3": 0.114,
    "GiPH-5": 0.132,
    "GiPH-NE": 0.240,
    "GiPH-NE-Pol": 0.027,
    "GraphSAGE-NE": 0.138,
    "Placeto": 0.162,
}
"""Table 7: seconds of a relocation when a placement is searched."""
