"""A local Flink cluster in application mode, which runs one job from its start to its end."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from local_flink import JOB_MANAGER, LocalFlink, TaskManager

APPLICATION = "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"


class Application(LocalFlink):
    """A cluster that runs a job inside a ``with`` statement, as the Kubernetes operator starts it.

    Parameters
    ----------
    jar, main, arguments
        The job: its jar, the class with its main method, and the arguments of that.
    settings
        Options of Flink that the document of the job states.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        jar: Path,
        main: str,
        arguments: Sequence[str] = (),
        *,
        settings: Mapping[str, str],
        slots: int,
        config: str = "",
    ) -> None:
        super().__init__(home, folder, (TaskManager("tm0", slots=slots),), config=config)
        self.jar, self.main, self.arguments = jar, main, arguments
        self.settings = settings

    @property
    def job(self) -> str:
        """The id of its job."""
        return str(self.get("/jobs/overview")["jobs"][0]["jid"])

    def _java(self, name: str, heap: str) -> list[str]:
        *command, libraries = super()._java(name, heap)
        return [*command, f"{libraries}:{self.jar}"]

    def _start(self, name: str, entry: str, heap: str, *more: Any, **how: Any) -> int:
        if entry != JOB_MANAGER:
            return super()._start(name, entry, heap, *more, **how)
        options = ["--job-classname", self.main]
        options += [word for pair in self.settings.items() for word in ("-D", "=".join(pair))]
        return super()._start(name, APPLICATION, heap, [*options, *self.arguments])

    def _wait_for_slots(self) -> None:
        def runs() -> bool:
            if not self.get("/jobs/overview")["jobs"]:
                return False
            return bool(self.get(f"/jobs/{self.job}")["vertices"]) and self._runs(self.job)

        self._wait(runs, "the job did not start")
