"""Actions on jobs of the Flink Kubernetes operator, which only its documents may change."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamplace.control.interfaces import Acted, Realiser, Record
from streamplace.control.journal import Entry
from streamplace.control.plans import Deployment
from streamplace.errors import BackendError, ProblemError
from streamplace.files.atomic import write_text
from streamplace.integrations.flink.client import Client
from streamplace.integrations.flink.deployment import handed_out, owner_of

DOCUMENT = "flinkdeployment.yaml"


@dataclass(frozen=True)
class HandingOut:
    """Writes the document of a job that the operator owns; other jobs are changed by a realiser.

    Parameters
    ----------
    folder
        Where the document is written; one of before is replaced.
    """

    client: Client
    realiser: Realiser
    folder: Path

    def act(
        self, job: str, deployment: Deployment, record: Record, savepoint: str | None = None
    ) -> Acted:
        """Write the document, or change the job; see `Realiser`."""
        try:
            found = self.client.state(job)
            owner = owner_of(self.client.config(), found.name)
            if owner is not None:
                file = self.folder / DOCUMENT
                write_text(str(file), handed_out(owner, deployment.parallelism, found))
                how = owner.command.replace("FILE", str(file))
                reason = (
                    f"nothing is changed: the job belongs to {owner}; apply its document: {how}"
                )
                return Acted(job, False, changed=False, reason=reason)
        except (BackendError, ProblemError, OSError) as error:
            return Acted(job, False, changed=False, reason=f"nothing is changed: {error}")
        return self.realiser.act(job, deployment, record, savepoint)

    def resume(
        self, job: str, deployment: Deployment, steps: Sequence[Entry], record: Record
    ) -> Acted | None:
        """Go on with an action; see `Realiser`. A document is written at once."""
        return self.realiser.resume(job, deployment, steps, record)
