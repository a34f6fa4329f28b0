"""The service as the doors see it."""

from p2p.service.analyzing import Analyzing
from p2p.service.artefacts import Artefacts
from p2p.service.background import Background
from p2p.service.calibrating import Calibrating
from p2p.service.candidates import Candidates
from p2p.service.catalog import Catalog
from p2p.service.criteria import Criteria
from p2p.service.details import Details
from p2p.service.drafting import Drafting
from p2p.service.export import Exports
from p2p.service.handed_code import HandedCode
from p2p.service.judging import Judging
from p2p.service.keeping import Keeping
from p2p.service.labelling import Labelling
from p2p.service.metrics import Metrics
from p2p.service.models import Models
from p2p.service.nodes import Nodes
from p2p.service.observing import Observing
from p2p.service.preferring import Preferring
from p2p.service.repairing import Repairing
from p2p.service.revising import Revising
from p2p.service.rewards import Rewards
from p2p.service.serving import Serving
from p2p.service.sessions import Sessions
from p2p.service.setup import Setup
from p2p.service.steering import Steers
from p2p.service.training import Training
from p2p.service.transcripts import Transcripts
from p2p.service.viewing import Viewing


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
    Criteria,
    Steers,
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
