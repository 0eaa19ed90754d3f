"""Predictions of gradient-boosted trees, run by an interpreter that has scikit-learn.

Reads ``{"seed": …, "tasks": [{"x": rows, "y": targets, "asked": rows}, …]}`` from stdin, and writes
the predictions for the asked rows of each task to stdout. It imports nothing of this repository;
`benchmarks.recorded_jobs` starts it.
"""

import json
import sys

from sklearn.ensemble import GradientBoostingRegressor


def main() -> None:
    """Fit a model for each task, and write what it predicts."""
    wanted = json.load(sys.stdin)
    answers = []
    for task in wanted["tasks"]:
        model = GradientBoostingRegressor(
            n_estimators=200, learning_rate=0.05, max_depth=3, random_state=wanted["seed"]
        )
        answers.append(model.fit(task["x"], task["y"]).predict(task["asked"]).tolist())
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
