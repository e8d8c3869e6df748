"""Rules of this project that no schema knows, checked on rendered manifests: kubernetes_rules.py FILE"""

import sys

import yaml

STAGES = ["ingest", "partition", "sample", "train-step", "aggregate", "checkpoint", "infer"]
NO_RETRY, RETRY = [64, 65, 70, 78], [75]

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


for name, pod in pods():
    security = pod.get("securityContext", {})
    check(security.get("runAsNonRoot") is True, name, "runAsNonRoot must be true")
    check(security.get("seccompProfile", {}).get("type") == "RuntimeDefault", name, "seccompProfile must be RuntimeDefault")
    check(pod.get("automountServiceAccountToken") is False, name, "no service account token is needed")
    for volume in pod.get("volumes", []):
        check("hostPath" not in volume, name, "hostPath is not allowed in restricted Pods")
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
