"""Rules of this project that no schema knows, checked on manifests: kubernetes_rules.py FILE [NAME=FILE ...]

FILE is all that is applied to a cluster: what lasts, and any number of runs. A NAME=FILE must have the same Jobs as FILE has of
the run NAME, but for names and labels.
"""

import difflib
import json
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


def steps(workflow):
    """The Pods of an Argo Workflow: what its spec says of all, and each template with a container."""
    spec = workflow["spec"]
    of_all = {key: spec[key] for key in ("securityContext", "automountServiceAccountToken") if key in spec}
    for template in spec["templates"]:
        if "container" in template:
            yield template["name"], {**of_all, **template, "containers": [template["container"]]}


def pods():
    for document in documents:
        name = f"{document['kind']} {document['metadata']['name']}"
        if document["kind"] in ("Job", "Deployment"):
            yield name, document["spec"]["template"]["spec"]
        if document["kind"] == "ScaledJob":
            yield name, document["spec"]["jobTargetRef"]["template"]["spec"]
        if document["kind"] == "Workflow":
            yield from ((f"{name} {step}", pod) for step, pod in steps(document))


def label(document, what):
    return document["metadata"].get("labels", {}).get(f"app.kubernetes.io/{what}", "")


def names(kind):
    return {d["metadata"]["name"] for d in documents if d["kind"] == kind}


# Makes the Secret of that name when it is applied.
MAKER = "redis-password"


def secrets():
    return names("Secret") | ({MAKER} & names("Job"))


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
check(names("NetworkPolicy") >= {"graphmill", "redis", MAKER}, overlay, f"network policies: found {names('NetworkPolicy')}")

starters = [name for name, pod in pods() for c in pod["containers"] if any("--start" in a.split() for a in c.get("args", []))]
check(not any("data" in d or "stringData" in d for d in documents if d["kind"] == "Secret"), overlay, "a secret is written down")
for role in [d for d in documents if d["kind"] in ("Role", "ClusterRole")]:
    check((role["kind"], role["metadata"]["name"], role["rules"]) == ("Role", MAKER, [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]}]),
          role["metadata"]["name"], f"more rights than to create a Secret: {role['rules']}")
of_runs = [d for d in documents if d["kind"] in ("Job", "Workflow") and d["metadata"]["name"] != MAKER]
runs = {label(d, "instance") for d in of_runs}
check(len(starters) == len(runs), overlay, f"the runs {sorted(runs)} are started by {starters}, expected one each: the others join it")
objects = [(d["kind"], d["metadata"]["name"]) for d in documents]
check(len(objects) == len(set(objects)), overlay, "two objects have one name")

for name, pod in pods():
    security = pod.get("securityContext", {})
    check(security.get("runAsNonRoot") is True, name, "runAsNonRoot must be true")
    check(security.get("seccompProfile", {}).get("type") == "RuntimeDefault", name, "seccompProfile must be RuntimeDefault")
    maker = name == f"Job {MAKER}"
    check(pod.get("automountServiceAccountToken") is maker, name, "a token of a service account is for who makes the password, and nobody else")
    for volume in pod.get("volumes", []):
        check("hostPath" not in volume, name, "hostPath is not allowed in restricted Pods")
        if "emptyDir" in volume:
            check("sizeLimit" in volume["emptyDir"], name, f"volume {volume['name']} has no size limit")
        if "configMap" in volume:
            check(volume["configMap"]["name"] in names("ConfigMap"), name, f"ConfigMap {volume['configMap']['name']} is not there")
        if "secret" in volume:
            check(volume["secret"]["secretName"] in secrets(), name, f"Secret {volume['secret']['secretName']} is not there")
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

NUMBER = 'case $JOB_COMPLETION_INDEX in'


def check_job(name, job):
    spec = job["spec"]
    component = label(job, "component")
    check(spec["template"]["spec"]["restartPolicy"] == "Never", name, "podFailurePolicy wants restartPolicy Never")
    check(spec.get("completionMode") == "Indexed", name, "must be Indexed")
    check(spec.get("ttlSecondsAfterFinished", 0) > 0, name, "stays for ever")
    check({"type": "DisruptionTarget", "status": "True"} in [c for r in spec["podFailurePolicy"]["rules"] for c in r.get("onPodConditions", [])],
          name, "an eviction counts as a failure")
    rules = {}
    for rule in spec["podFailurePolicy"]["rules"]:
        if "onExitCodes" in rule:
            rules[rule["action"]] = rule["onExitCodes"]["values"]
            check(rule["onExitCodes"]["containerName"] == spec["template"]["spec"]["containers"][0]["name"], name,
                  "the rule names another container")
    check(rules == {"FailJob": NO_RETRY, "Ignore": RETRY}, name, f"exit statuses: found {rules}")
    run = label(job, "instance")
    expected = component if not run else run if component == "run" else f"{run}-{component}"
    check(job["metadata"]["name"] == expected, name, f"is not named by its run and stage: {expected}")
    check_container(name, component, spec["template"]["spec"]["containers"][0])


def check_container(name, component, container):
    script = container["args"][0] if component == "run" else ""
    expected = ["sh", "-euc"] if script else [f"graphmill-{component}"]
    check(container["command"] == expected, name, f"runs another program than {expected}")
    words = script.split() if script else container["args"]
    if script:
        check(script.startswith(NUMBER), name, "the number of the Pod does not say what it is")
        check(sorted(w[10:] for w in words if w.startswith("graphmill-")) == sorted(STAGES), name, "not all stages, once each")
    check(not any("password=" in w for w in words), name, "a password is an argument")
    wait = [int(w.split("=")[1]) for w in words if w.startswith(("--wait=", "--idle="))]
    check(wait and max(wait) <= 60, name, f"a Pod that cannot work holds its CPU for {wait} s, expected a minute")
    loops = component not in ("ingest", "partition", "run")
    check(not loops or any(w.startswith("--idle=") for w in words), name, "a Pod that has no work stays")


def check_workflow(name, workflow):
    found = dict(steps(workflow))
    graph = next(t for t in workflow["spec"]["templates"] if t["name"] == workflow["spec"]["entrypoint"])["dag"]["tasks"]
    check([t["name"] for t in graph] == STAGES, name, f"steps: expected {STAGES}, found {graph}")
    check([t.get("depends") for t in graph] == [None, "ingest.Succeeded"] + ["partition.Succeeded"] * 5, name, "steps begin too early or late")
    check(sorted(found) == sorted(STAGES), name, "not all stages, once each")
    for step, pod in found.items():
        check_container(f"{name} {step}", step, pod["containers"][0])
        check(re.findall(r"\d+", pod["retryStrategy"]["expression"]) == [str(n) for n in NO_RETRY], step, "other statuses are for good")


for run in sorted(runs):
    of_run = [d for d in of_runs if label(d, "instance") == run]
    jobs = {label(d, "component"): d for d in of_run if d["kind"] == "Job"}
    check(sorted(jobs) in (sorted(STAGES), ["run"], []), f"run {run}", f"expected {sorted(STAGES)}, found {sorted(jobs)}")
    for document in of_run:
        where = f"{document['kind']} {document['metadata']['name']}"
        (check_job if document["kind"] == "Job" else check_workflow)(where, document)


# What keda.sh/v1alpha1 knows of a ScaledJob and of a trigger of the type prometheus, as far as we use it.
SCALED = {"jobTargetRef", "pollingInterval", "minReplicaCount", "maxReplicaCount", "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "triggers"}
PROMETHEUS = {"serverAddress", "query", "threshold"}


def check_scaled(name, scaled):
    spec, component = scaled["spec"], label(scaled, "component")
    job = spec["jobTargetRef"]
    check(scaled["apiVersion"] == "keda.sh/v1alpha1", name, "another version of KEDA")
    check(set(spec) == SCALED, name, f"keys: found {sorted(spec)}")
    for trigger in spec["triggers"]:
        check(set(trigger) == {"type", "metadata"} and trigger["type"] == "prometheus", name, f"trigger: found {trigger}")
        check(set(trigger["metadata"]) == PROMETHEUS and all(isinstance(v, str) for v in trigger["metadata"].values()), name, f"metadata: found {trigger}")
        metric, stage, run = re.fullmatch(r'sum\((\w+){stage="([\w-]+)",render="([\w-]+)"}\)', trigger["metadata"]["query"]).groups()
        check(f'"{metric}"' in (SOURCE / "pipelines/questions/metrics_text.c").read_text(), name, f"graphmill exporter says nothing of {metric}")
        check((stage, run) == (component, label(scaled, "instance")), name, f"goes by the queue of {stage} of {run}")
    check(set(job) == {"parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished", "template"}, name, f"Job: found {sorted(job)}")
    check((job["parallelism"], job["completions"], job["backoffLimit"]) == (1, 1, 0), name, "a worker without work must end its Job")
    check_container(name, component, job["template"]["spec"]["containers"][0])
    plain_job = next(d for d in documents if d["kind"] == "Job" and (label(d, "instance"), label(d, "component")) == (label(scaled, "instance"), component))
    check(job["template"] == plain_job["spec"]["template"], name, "another Pod than that of the Job")
    exporters = [d for d in documents if d["kind"] == "Deployment" and label(d, "instance") == label(scaled, "instance")]
    check([label(d, "component") for d in exporters] == ["exporter"], name, "nobody tells how many units wait")
    check(exporters[0]["spec"]["selector"]["matchLabels"].items() <= exporters[0]["spec"]["template"]["metadata"]["labels"].items(), name, "selects others")


for document in documents:
    if document["kind"] == "ScaledJob":
        check_scaled(f"ScaledJob {document['metadata']['name']}", document)


def plain(document):
    """A Job without what is its run's alone: names, labels, order and units of amounts."""
    spec = document["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    container["args"] = sorted(container["args"])
    for part in container["resources"].values():
        part.update({key: amount(value) for key, value in part.items()})
    for listed in (pod["volumes"], container["volumeMounts"]):
        listed.sort(key=lambda item: item["name"])
    for volume in pod["volumes"]:
        volume.get("configMap", {}).pop("name", None)
    spec["template"].pop("metadata")
    return spec


for pair in sys.argv[2:]:
    run, path = pair.split("=", 1)
    one, other = ({label(d, "component"): plain(d) for d in source
                   if d and d["kind"] == "Job" and d["metadata"]["name"] != MAKER and label(d, "instance") in (run, "")}
                  for source in (documents, yaml.safe_load_all(open(path))))
    for component in sorted({*one, *other}):
        lines = [json.dumps(jobs.get(component), indent=1, sort_keys=True).splitlines() for jobs in (one, other)]
        check(lines[0] == lines[1], f"{run} and {path}", f"{component} differs: {list(difflib.unified_diff(*lines, n=0))[2:]}")

for problem in problems:
    print(problem)
sys.exit(bool(problems))
