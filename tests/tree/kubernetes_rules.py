"""Rules of this project that no schema knows, checked on rendered manifests: kubernetes_rules.py FILE"""

import pathlib
import pathlib
import re
import sys

import yaml

SOURCE = pathlib.Path(__file__).parents[2]
STAGES = re.search(r"^set\(STAGES (.*)\)", (SOURCE / "CMakeLists.txt").read_text(), re.M).group(1).split()
NO_RETRY, RETRY = [64, 65, 70, 78], [75, 255]
# What the trial may ask for, by the name of its overlay: half the CPUs and three quarters of the memory of a small node,
# for the cluster has Pods of its own.
ROOM = {"single-node": (1.0, 3 * 2**30)}

documents = [d for d in yaml.safe_load_all(open(sys.argv[1])) if d]
problems = []


def check(condition, where, what):
    if not condition:
        problems.append(f"{where}: {what}")


def pods():
    for document in documents:
        if document["kind"] in ("Job", "Deployment"):
            name = f"{document['kind']} {document['metadata']['name']}"
            yield name, document["spec"]["template"]["spec"]


def names(kind):
    return {d["metadata"]["name"] for d in documents if d["kind"] == kind}


def amount(text):
    """A quantity as Kubernetes writes it, in CPUs or bytes."""
    units = {"m": 1e-3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
    text = str(text)
    for unit, factor in units.items():
        if text.endswith(unit):
            return float(text[: -len(unit)]) * factor
    return float(text)


def copies(document):
    """Pods at once; the Jobs are all created at once."""
    return document["spec"].get("parallelism", document["spec"].get("replicas", 1))


overlay = pathlib.Path(sys.argv[1]).stem
if overlay in ROOM:
    for resource, room in zip(("cpu", "memory"), ROOM[overlay]):
        wanted = sum(
            copies(d) * amount(c["resources"]["requests"][resource])
            for d in documents
            if d["kind"] in ("Job", "Deployment")
            for c in d["spec"]["template"]["spec"]["containers"]
        )
        check(wanted <= room, overlay, f"requests of {resource} add up to {wanted:g}, there is room for {room:g}")
check(names("NetworkPolicy") == {"graphmill", "redis"}, overlay, f"network policies: found {names('NetworkPolicy')}")

starters = [name for name, pod in pods() for c in pod["containers"] if "--start" in c.get("args", [])]
check(starters == ["Job partition"], overlay, f"the run is started by {starters}, expected Job partition alone: the others join it")

for name, pod in pods():
    security = pod.get("securityContext", {})
    check(security.get("runAsNonRoot") is True, name, "runAsNonRoot must be true")
    check(security.get("seccompProfile", {}).get("type") == "RuntimeDefault", name, "seccompProfile must be RuntimeDefault")
    check(pod.get("automountServiceAccountToken") is False, name, "no service account token is needed")
    for volume in pod.get("volumes", []):
        check("hostPath" not in volume, name, "hostPath is not allowed in restricted Pods")
        if "emptyDir" in volume:
            check("sizeLimit" in volume["emptyDir"], name, f"volume {volume['name']} has no size limit")
        if "configMap" in volume:
            check(volume["configMap"]["name"] in names("ConfigMap"), name, f"ConfigMap {volume['configMap']['name']} is not there")
        if "secret" in volume:
            check(volume["secret"]["secretName"] in names("Secret"), name, f"Secret {volume['secret']['secretName']} is not there")
        if "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            check(claim in names("PersistentVolumeClaim"), name, f"claim {claim} is not there")
    for container in pod["containers"]:
        security = container.get("securityContext", {})
        check(security.get("allowPrivilegeEscalation") is False, name, "allowPrivilegeEscalation must be false")
        check(security.get("readOnlyRootFilesystem") is True, name, "the root file system must be read-only")
        check(security.get("capabilities", {}).get("drop") == ["ALL"], name, "all capabilities must be dropped")
        check("memory" in container.get("resources", {}).get("limits", {}), name, "a memory limit is missing")
        check(set(container["resources"].get("requests", {})) >= {"cpu", "memory"}, name, "requests are missing")
        check(":" in container["image"] and not container["image"].endswith(":latest"), name, "the image needs a version")
        check(container.get("terminationMessagePolicy") == "FallbackToLogsOnError", name, "its last words are lost")
        mounts = {m["name"] for m in container.get("volumeMounts", [])}
        check(mounts <= {v["name"] for v in pod.get("volumes", [])}, name, "a mount has no volume")

jobs = {d["metadata"]["name"]: d for d in documents if d["kind"] == "Job"}
check(sorted(jobs) == sorted(STAGES), "Jobs", f"expected {sorted(STAGES)}, found {sorted(jobs)}")
for name, job in jobs.items():
    spec = job["spec"]
    check(spec["template"]["spec"]["restartPolicy"] == "Never", name, "podFailurePolicy wants restartPolicy Never")
    check(spec.get("completionMode") == "Indexed", name, "must be Indexed")
    rules = {}
    for rule in spec["podFailurePolicy"]["rules"]:
        if "onExitCodes" in rule:
            rules[rule["action"]] = rule["onExitCodes"]["values"]
            check(rule["onExitCodes"]["containerName"] == spec["template"]["spec"]["containers"][0]["name"], name,
                  "the rule names another container")
    check(rules == {"FailJob": NO_RETRY, "Ignore": RETRY}, name, f"exit statuses: found {rules}")
    container = spec["template"]["spec"]["containers"][0]
    check(container["command"] == [f"graphmill-{name}"], name, "runs another program")
    check(not any("password=" in a for a in container["args"]), name, "a password is an argument")

for problem in problems:
    print(problem)
sys.exit(bool(problems))
