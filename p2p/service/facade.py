"""The service as the doors see it."""

from p2p.service.authoring.candidates import Candidates
from p2p.service.authoring.criteria import Criteria
from p2p.service.authoring.drafting import Drafting
from p2p.service.authoring.models import Models
from p2p.service.authoring.repairing import Repairing
from p2p.service.authoring.revising import Revising
from p2p.service.authoring.rewards import Rewards
from p2p.service.calibration.calibrating import Calibrating
from p2p.service.catalog import Catalog
from p2p.service.judging.handed_code import HandedCode
from p2p.service.judging.labelling import Labelling
from p2p.service.judging.observing import Observing
from p2p.service.judging.preferring import Preferring
from p2p.service.judging.verdicts import Judging
from p2p.service.machines.nodes import Nodes
from p2p.service.machines.serving import Serving
from p2p.service.machines.setup import Setup
from p2p.service.pictures.artefacts import Artefacts
from p2p.service.pictures.viewing import Viewing
from p2p.service.sessions.analyzing import Analyzing
from p2p.service.sessions.details import Details
from p2p.service.sessions.extending import Extending
from p2p.service.sessions.keeping import Keeping
from p2p.service.sessions.lifecycle import Sessions
from p2p.service.sessions.settings_changes import SettingsChanges
from p2p.service.sessions.steering import Steers
from p2p.service.sessions.transcripts import Transcripts
from p2p.service.training.background import Background
from p2p.service.training.export import Exports
from p2p.service.training.iteration import Training
from p2p.service.training.metrics import Metrics


class Service(
    Keeping,
    Background,
    Revising,
    HandedCode,
    Preferring,
    Observing,
    Drafting,
    Metrics,
    Models,
    Nodes,
    Extending,
    Criteria,
    Steers,
    SettingsChanges,
    Sessions,
    Analyzing,
    Repairing,
    Candidates,
    Rewards,
    Training,
    Judging,
    Calibrating,
    Labelling,
    Catalog,
    Artefacts,
    Details,
    Exports,
    Serving,
    Setup,
    Transcripts,
    Viewing,
):
    """Everything p2p can do; one file per noun holds the methods."""
