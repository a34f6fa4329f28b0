"""The verb `clip_video`: a clip of the calibration set as a video and as a contact sheet."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.envs import catalog
from p2p.lab.records import ClipsRecord, ClipVideoRecord
from p2p.store.arrays import load_arrays, load_features
from p2p.worker.engine.environment import compiled_model
from p2p.worker.pictures.contact_sheet import write_contact_sheet
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.video import write_rollout_video


def film(job_dir: Path) -> None:
    """Film the clip that the request in `job_dir` names.

    Raises:
        InvalidInput: the request, or the clips it names, are missing or broken.
    """
    record = ClipVideoRecord(job_dir)
    request = record.read_request()
    clips = ClipsRecord((job_dir / request.clips).resolve()) if request else None
    found = clips.read_clips() if clips else None
    index = found.index_of(request.clip_id) if found and request else None
    states = load_arrays(clips.states_path) if clips else None
    features = load_features(clips.features_path) if clips else None
    if request is None or found is None or index is None or states is None or features is None:
        raise InvalidInput(f"{job_dir} holds no readable request for a clip that has been made.")
    clip = found.clips[index]
    qpos = states["qpos"][index][1:]
    spec = catalog.load(found.env_id)
    model = compiled_model(spec, {})
    title = f"{clip.clip_id}: {clip.motion}" if request.named else found.env_id
    write_contact_sheet(record.sheet_path, model, spec, qpos, features[index], title)
    if request.video:
        write_rollout_video(record.video_path, ShownRollout(spec, model, qpos, features[index]))
