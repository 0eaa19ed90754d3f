"""A search for training options with Optuna (`pip install optuna`): learning rate and samples.

    python examples/sweep.py DATASET CONFIG TRIALS FOLDER

Every trial is a run folder of `streamplace train`. The search stops a trial that is worse than the
median of the others at the same epoch. Started again with the same folder, it continues.
"""

import sys
from pathlib import Path

import optuna

import streamplace as sp
from streamplace.learning.training import TrainConfig, read_config, train
from streamplace.learning.training.config import with_values


def main(dataset: str, config: str, trials: int, folder: Path) -> None:
    """Search, and print the best values."""
    graphs, settings = sp.read_dataset(dataset), read_config(config)
    assert settings.run.held_out, "validation needs [run] held_out"

    def reached(trial: optuna.Trial) -> float:
        values = {
            "stage[0].optimiser.rate": trial.suggest_float("rate", 1e-4, 1e-2, log=True),
            "stage[0].samples": trial.suggest_int("samples", 2, 8),
        }
        return validation(trial, with_values(settings, values), folder / str(trial.number))

    def validation(trial: optuna.Trial, own: TrainConfig, run: Path) -> float:
        found = [float("-inf")]

        def on_step(record: dict[str, float | int]) -> None:
            if "validation" in record:
                found.append(record["validation"])
                trial.report(found[-1], int(record["epoch"]))
                if trial.should_prune():
                    raise optuna.TrialPruned

        train(graphs, own, run, on_step=on_step)
        return found[-1]

    folder.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        storage=f"sqlite:///{folder / 'sweep.db'}",
        study_name="sweep",
        direction="maximize",
        load_if_exists=True,
    )
    study.optimize(reached, n_trials=trials)
    print(f"trial {study.best_trial.number}: {study.best_value:.4f} with {study.best_params}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
