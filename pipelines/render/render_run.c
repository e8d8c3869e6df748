#include "pipelines/render/render_run.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
const struct render_stage render_stages[STAGE_COUNT] = {
    {"ingest",     PODS_ONE,     1000, 2048, 50},
    {"partition",  PODS_ONE,     1000, 4096, 50},
    {"sample",     PODS_WORKERS, 1000, 2048, 50},
    {"train-step", PODS_WORKERS, 2000, 4096, 50},
    {"aggregate",  PODS_RANGES,  1000, 1024, 50},
    {"checkpoint", PODS_ONE,      500, 1024, 50},
    {"infer",      PODS_WORKERS, 2000, 4096, 50},
};

const struct render_form render_forms[RENDER_FORM_COUNT] = {
    {"jobs", "an Indexed Job for each stage", render_jobs},
    {"argo", "an Argo Workflow: a step for each stage, after its input is complete", render_argo},
    {"indexed", "one Indexed Job for all stages, the number of the Pod says which", render_indexed},
    {"keda", "the Jobs with a Pod each, and up to --workers of KEDA while units wait", render_keda},
};
/* clang-format on */

bool render_is_name(const char *text, size_t most)
{
    const size_t size = strlen(text);
    const size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return size > 0 && size <= most && plain == size && text[0] != '-' && text[size - 1] != '-';
}

int64_t render_pod_count(const struct render_run *run, const struct render_stage *stage)
{
    return stage->pods == PODS_WORKERS  ? run->workers
           : stage->pods == PODS_RANGES ? run->ranges
                                        : 1;
}

void render_labels(struct yaml_writer *w, const struct render_run *run, const char *component)
{
    yaml_line(w, "labels:");
    yaml_in(w);
    yaml_line(w, "app.kubernetes.io/name: graphmill");
    yaml_text(w, "app.kubernetes.io/instance", run->name);
    yaml_line(w, "app.kubernetes.io/component: %s", component);
    yaml_out(w, 1);
}

static void put_statuses(struct yaml_writer *w, const char *action, const char *container,
                         const char *values)
{
    yaml_dash(w);
    yaml_line(w, "action: %s", action);
    yaml_line(w, "onExitCodes:");
    yaml_in(w);
    yaml_line(w, "containerName: %s", container);
    yaml_line(w, "operator: In");
    yaml_line(w, "values: [%s]", values);
    yaml_out(w, 1);
}

static void put_failure_policy(struct yaml_writer *w, const char *container)
{
    yaml_line(w, "podFailurePolicy:");
    yaml_in(w);
    yaml_line(w, "rules:");
    yaml_in(w);
    yaml_in(w);
    yaml_line(w, "# Wrong use, bad data, a bug, wrong settings: another try cannot help.");
    put_statuses(w, "FailJob", container, "64, 65, 70, 78");
    yaml_line(w, "# Not there yet, or asked to stop; 255: the node was lost.");
    put_statuses(w, "Ignore", container, "75, 255");
    yaml_dash(w);
    yaml_line(w, "action: Ignore");
    yaml_line(w, "onPodConditions:");
    yaml_in(w);
    yaml_dash(w);
    yaml_in(w);
    yaml_line(w, "type: DisruptionTarget");
    yaml_line(w, "status: \"True\"");
    yaml_out(w, 5);
}

void render_object_head(struct yaml_writer *w, const struct render_run *run,
                        const char *api_version, const char *kind, const char *name,
                        const char *component)
{
    yaml_line(w, "apiVersion: %s", api_version);
    yaml_line(w, "kind: %s", kind);
    yaml_line(w, "metadata:");
    yaml_in(w);
    yaml_text(w, "name", name);
    render_labels(w, run, component);
    yaml_out(w, 1);
}

void render_job_head(struct yaml_writer *w, const struct render_run *run, const char *name,
                     const char *component, int64_t pods)
{
    yaml_line(w, "---");
    render_object_head(w, run, "batch/v1", "Job", name, component);
    yaml_line(w, "spec:");
    yaml_in(w);
    yaml_line(w, "completionMode: Indexed");
    yaml_line(w, "completions: %" PRId64, pods);
    yaml_line(w, "parallelism: %" PRId64, pods);
    yaml_line(w, "backoffLimitPerIndex: 10");
    yaml_line(w, "podReplacementPolicy: Failed");
    yaml_line(w, "ttlSecondsAfterFinished: 604800");
    put_failure_policy(w, component);
    yaml_line(w, "template:");
}

static void put_config_map(struct yaml_writer *w, const struct render_run *run)
{
    render_object_head(w, run, "v1", "ConfigMap", run->name, "pipeline");
    yaml_line(w, "immutable: true");
    yaml_line(w, "data:");
    yaml_in(w);
    yaml_block(w, "pipeline.yaml", run->pipeline_text);
    yaml_out(w, 1);
}

void render_network_policy(struct yaml_writer *w, const struct render_run *run,
                           const struct render_policy *policy)
{
    yaml_line(w, "---");
    render_object_head(w, run, "networking.k8s.io/v1", "NetworkPolicy", policy->name,
                       policy->component);
    yaml_line(w, "spec:");
    yaml_in(w);
    yaml_line(w, "podSelector:");
    yaml_in(w);
    yaml_line(w, "matchLabels:");
    yaml_in(w);
    yaml_text(w, "app.kubernetes.io/instance", run->name);
    if (policy->is_of_component)
        yaml_text(w, "app.kubernetes.io/component", policy->component);
    yaml_out(w, 2);
    yaml_line(w, "policyTypes: [%s]", policy->is_ingress ? "Ingress" : "Egress");
    yaml_line(w, policy->is_ingress ? "ingress:" : "egress:");
    yaml_in(w);
    yaml_dash(w);
    yaml_line(w, "ports:");
    yaml_in(w);
    for (int i = 0; i < policy->port_count; i++)
        yaml_line(w, "- {protocol: TCP, port: %" PRId64 "}", policy->port[i]);
    yaml_out(w, 3);
}

void render_shared(struct yaml_writer *w, const struct render_run *run)
{
    put_config_map(w, run);
    const struct render_policy reached = {.name = run->name,
                                          .component = "network",
                                          .port = run->port,
                                          .port_count = run->port_count};
    if (run->port_count)
        render_network_policy(w, run, &reached);
}
