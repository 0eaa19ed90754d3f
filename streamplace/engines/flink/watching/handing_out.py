"""Actions by what suits a job: a document for its operator, a change in place, or a restart."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamplace.control.interfaces import Acted, Realiser, Record
from streamplace.control.journal import Entry
from streamplace.control.plans import Deployment
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.deployment import handed_out, owner_of
from streamplace.engines.flink.watching.rescaling import AdaptiveRealiser
from streamplace.errors import BackendError, ProblemError
from streamplace.files.writing import write_text

DOCUMENT = "flinkdeployment.yaml"


@dataclass(frozen=True)
class HandingOut:
    """Writes the document of a job that the Kubernetes operator owns, and changes other jobs.

    Parameters
    ----------
    folder
        Where the document is written; one of before is replaced.
    restarts
        What restarts jobs; None: all are changed in place.
    chooses
        Whether jobs that run under the adaptive scheduler are changed in place.
    """

    client: Client
    folder: Path
    in_place: AdaptiveRealiser
    restarts: Realiser | None = None
    chooses: bool = True

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Write the document, or change the job; see `Realiser`."""
        try:
            found = self.client.scheduled(self.client.state(job))
            owner = owner_of(self.client.config(), found.name)
            if owner is not None:
                file = self.folder / DOCUMENT
                change = handed_out(owner, deployment.parallelism, found, self.client)
                write_text(str(file), change.text(owner.command))
                how = owner.command.replace("FILE", str(file))
                reason = (
                    f"nothing is changed: the job belongs to {owner}; apply its document: {how}"
                )
                reason = "; ".join([reason, *change.lost, *change.assumed])
                return Acted(job, False, changed=False, reason=reason)
        except (BackendError, ProblemError, OSError) as error:
            return Acted(job, False, changed=False, reason=f"nothing is changed: {error}")
        if self.restarts is None or (self.chooses and savepoint is None and found.is_adaptive):
            return self.in_place.act(job, deployment, record)
        return self.restarts.act(job, deployment, record, savepoint)

    def resume(
        self, job: str, deployment: Deployment, steps: Sequence[Entry], record: Record
    ) -> Acted | None:
        """Go on with an action as it began; see `Realiser`. A document is written at once."""
        done = self.in_place.resume(job, deployment, steps, record)
        if done is None and self.restarts is not None:
            done = self.restarts.resume(job, deployment, steps, record)
        return done
