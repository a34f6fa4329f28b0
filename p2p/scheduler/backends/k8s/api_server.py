"""Jobs, pods and events of one namespace, as the API server gives and takes them; its errors in p2p's terms."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from p2p.contracts.errors import EnvironmentProblem, NodeUnreachable
from p2p.registry import naming_extras

PATIENCE_S = (5.0, 20.0)
"""To connect, and to wait for an answer [s]."""
LATEST_WARNINGS = 500
PAGE = "docs/clusters_k8s.md"
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""What a pod is given to reach the API server of its own cluster."""

NOT_ALLOWED = re.compile(r'cannot (?P<verb>\w+) resource "(?P<resource>[\w./]+)"')
"""Of a refusal by access rules (RBAC)."""
FULL = re.compile(r"exceeded quota", re.IGNORECASE)
"""Of a refusal that ends when other jobs do."""
BUSY = 429


class ApiServer:
    """API server of a context, through the official client.

    Nothing is sent when it is made, but a kubeconfig may name a program that fetches credentials, which is run.

    Args:
        kubeconfig: Files, as in KUBECONFIG; None takes ~/.kube/config.
        context: Context of the kubeconfig; None takes the current one.
        namespace: None takes the context's.

    Raises:
        MissingExtra: the client is not installed.
        EnvironmentProblem: there is no kubeconfig, or it does not have the context.
    """

    def __init__(self, kubeconfig: str | None, context: str | None, namespace: str | None) -> None:
        with naming_extras():
            from kubernetes import client, config  # noqa: PLC0415  an extra, and 0.6 s to import
            from urllib3.exceptions import HTTPError  # noqa: PLC0415  comes with it
        self._client = client
        self._silences = (HTTPError, OSError)
        configuration = client.Configuration()
        configuration.retries = 0  # p2p asks again, and says meanwhile that nobody answers
        try:
            if kubeconfig is None and context is None and not Path("~/.kube/config").expanduser().exists():
                config.load_incluster_config(client_configuration=configuration)
                self.context, found = "this pod's cluster", (ACCOUNT / "namespace").read_text().strip()
            else:
                config.load_kube_config(kubeconfig, context, client_configuration=configuration)
                contexts, current = config.list_kube_config_contexts(kubeconfig)
                chosen = next((one for one in contexts if one["name"] == context), current)
                self.context, found = chosen["name"], chosen["context"].get("namespace")
        except (config.ConfigException, OSError) as error:
            raise EnvironmentProblem(
                f"No Kubernetes cluster is configured here: {error} Expected what kubectl needs: "
                f"~/.kube/config, or KUBECONFIG with the path of another file. See {PAGE}."
            ) from error
        self.namespace = namespace or found or "default"
        api = client.ApiClient(configuration)
        self._jobs, self._core = client.BatchV1Api(api), client.CoreV1Api(api)

    def create_job(self, manifest: dict[str, Any]) -> str:
        """Create a Job; nothing if there is one of its name.

        Returns:
            Empty; or why the namespace takes no more jobs now.

        Raises:
            NodeUnreachable: no answer came; it may have been created.
            EnvironmentProblem: it is refused.
        """
        try:
            self._jobs.create_namespaced_job(
                self.namespace, manifest, field_validation="Strict", _preload_content=False, _request_timeout=PATIENCE_S
            )
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors())
            raise EnvironmentProblem(f"Kubernetes knows no such Job: {wrong}. Correct pod=… of the cluster.") from error
        except (self._client.ApiException, *self._silences) as error:
            refusal = _refusal(error)
            if refusal.get("reason") == "AlreadyExists":
                return ""
            if FULL.search(said := str(refusal.get("message", ""))):
                return said
            raise self._in_our_terms(error, "create") from error
        return ""

    def delete_job(self, name: str) -> None:
        """Delete a Job and its pods; it is listed until they have ended. Nothing if there is none.

        Raises:
            NodeUnreachable: no answer came.
            EnvironmentProblem: it is refused.
        """
        try:
            self._jobs.delete_namespaced_job(
                name,
                self.namespace,
                propagation_policy="Foreground",
                _preload_content=False,
                _request_timeout=PATIENCE_S,
            )
        except (self._client.ApiException, *self._silences) as error:
            if _refusal(error).get("reason") != "NotFound":
                raise self._in_our_terms(error, "delete") from error

    def jobs(self, labels: str) -> list[dict[str, Any]]:
        """All Jobs with these labels.

        Raises:
            NodeUnreachable: no answer came.
            EnvironmentProblem: it is refused.
        """
        return self._listed(self._jobs.list_namespaced_job, label_selector=labels)

    def pods(self, labels: str) -> list[dict[str, Any]]:
        """All pods with these labels; raises as `jobs` does."""
        return self._listed(self._core.list_namespaced_pod, label_selector=labels)

    def warnings(self) -> list[dict[str, Any]]:
        """Events of the namespace that tell of problems; raises as `jobs` does."""
        return self._listed(self._core.list_namespaced_event, field_selector="type=Warning", limit=LATEST_WARNINGS)

    def _listed(self, call: Callable[..., Any], **wanted: Any) -> list[dict[str, Any]]:
        # as JSON: 1,000 jobs with their pods take 0.1 s of processor time, as the client's own objects 0.5 to 0.8 s
        try:
            answer = call(self.namespace, **wanted, _preload_content=False, _request_timeout=PATIENCE_S)
            items = json.loads(answer.data).get("items")
        except (self._client.ApiException, ValueError, *self._silences) as error:
            raise self._in_our_terms(error, "list") from error
        return items or []

    def _in_our_terms(self, error: Exception, verb: str) -> EnvironmentProblem:
        """What to raise for an error of the client."""
        status = getattr(error, "status", None)
        said = _refusal(error).get("message") or getattr(error, "reason", None) or error
        where = f"namespace {self.namespace} of {self.context}"
        if not status or status == BUSY or status >= 500:
            return NodeUnreachable(f"The Kubernetes API server of {self.context} does not answer: {said}.")
        if status == 401:
            return EnvironmentProblem(
                f"The Kubernetes API server of {self.context} does not accept the credentials of the kubeconfig. "
                "Renew them as for kubectl; to try: kubectl get jobs"
            )
        if status == 403 and (denied := NOT_ALLOWED.search(str(said))):
            return EnvironmentProblem(
                f"Kubernetes does not let p2p {denied['verb']} {denied['resource']} in {where}. Whoever runs the "
                f"cluster allows the verb {denied['verb']!r} of {denied['resource']} (docs/k8s/rbac.yaml); see {PAGE}."
            )
        return EnvironmentProblem(f"Kubernetes refuses to {verb} jobs in {where}: {said} See {PAGE}.")


def kubeconfig() -> str | None:
    """What KUBECONFIG says; None if it says nothing."""
    return os.environ.get("KUBECONFIG") or None


def _refusal(error: Exception) -> dict[str, Any]:
    """Status object that a refusal carries; empty without one."""
    try:
        found = json.loads(getattr(error, "body", None) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
