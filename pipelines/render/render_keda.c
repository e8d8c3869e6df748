/*
 * The form "keda": the Jobs of the form "jobs" with one Pod each, and a ScaledJob of KEDA
 * (keda.sh/v1alpha1) for each stage that may have any number of workers. It starts one more worker
 * for every two waiting units. An exporter publishes the number of waiting units to Prometheus, and
 * KEDA reads it there.
 *
 * A worker that finds no work for a minute ends with status 75, which ends its Job; KEDA starts
 * another one when there is work again. Runs can exist side by side, so the metric has the name of
 * the run as a label. Once the run is finished, or a stage has failed for good, the metric is 0
 * (metrics_text.h), and no more Jobs are started.
 */
#include "common/base/json.h"
#include "pipelines/render/render_pod.h"
#include "pipelines/shared/own_command.h"

#include <inttypes.h>
#include <stdio.h>

enum { OBJECT_NAME_SIZE = RENDER_NAME_SIZE + 32, EXPORTER_PORT = 9464 };

static void name_object(const struct render_run *run, const char *stage, const char *ending,
                        char name[OBJECT_NAME_SIZE])
{
    (void)snprintf(name, OBJECT_NAME_SIZE, "%s-%s%s", run->name, stage, ending);
}

static void put_template(struct yaml_writer *w, const struct render_run *run,
                         const struct render_stage *stage)
{
    char program[48];
    (void)snprintf(program, sizeof program, "graphmill-%s", stage->name);
    yaml_line(w, "template:");
    render_template_head(w, run, stage->name, TEMPLATE_OF_JOB);
    render_container(w, run, stage, program, NULL);
    render_template_end(w, run, stage);
}

static void put_trigger(struct yaml_writer *w, const struct render_run *run,
                        const struct render_stage *stage)
{
    char query[128];
    (void)snprintf(query, sizeof query, "sum(graphmill_units_waiting{stage=\"%s\",render=\"%s\"})",
                   stage->name, run->name);
    yaml_line(w, "triggers:");
    yaml_in(w);
    yaml_dash(w);
    yaml_line(w, "type: prometheus");
    yaml_line(w, "metadata:");
    yaml_in(w);
    yaml_text(w, "serverAddress", run->metrics);
    yaml_text(w, "query", query);
    yaml_line(w, "threshold: \"2\"");
    yaml_out(w, 2);
}

static void put_scaled_job(struct yaml_writer *w, const struct render_run *run,
                           const struct render_stage *stage)
{
    char name[OBJECT_NAME_SIZE];
    name_object(run, stage->name, "-more", name);
    yaml_line(w, "---");
    render_object_head(w, run, "keda.sh/v1alpha1", "ScaledJob", name, stage->name);
    yaml_line(w, "spec:");
    yaml_in(w);
    yaml_line(w, "pollingInterval: 15");
    yaml_line(w, "minReplicaCount: 0");
    yaml_line(w, "maxReplicaCount: %" PRId64, run->workers - 1);
    yaml_line(w, "successfulJobsHistoryLimit: 3");
    yaml_line(w, "failedJobsHistoryLimit: 3");
    put_trigger(w, run, stage);
    yaml_line(w, "jobTargetRef:");
    yaml_in(w);
    yaml_line(w, "parallelism: 1");
    yaml_line(w, "completions: 1");
    yaml_line(w, "backoffLimit: 0");
    yaml_line(w, "ttlSecondsAfterFinished: 3600");
    put_template(w, run, stage);
    yaml_out(w, 1);
}

/* --- the exporter --- */

static void put_word(struct json_writer *script, const char *word)
{
    static char quoted[SHELL_WORD_SIZE]; /* too large for a stack; rendering uses one thread */
    json_put_raw(script, " ");
    json_put_raw(script, shell_word(word, quoted));
}

static void put_script(struct json_writer *script, const struct render_run *run)
{
    json_put_raw(script, "exec graphmill exporter");
    put_word(script, run->store);
    json_put_raw(script, " --listen=0.0.0.0:9464 --pipeline=/etc/graphmill/run/pipeline.yaml");
    for (int i = 0; i < run->set.count; i++) {
        json_put_raw(script, " --set");
        put_word(script, run->set.item[i]);
    }
    json_put_raw(script, " --label=render=");
    json_put_raw(script, run->name);
    json_put_raw(script, " --redis");
    put_word(script, run->redis);
    json_put_raw(script, " --redis-password-file=/run/graphmill/redis/password\n");
}

static void put_exporter(struct yaml_writer *w, const struct render_run *run, const char *script)
{
    const struct render_stage size = {"exporter", PODS_ONE, 50, 128, 1};
    char name[OBJECT_NAME_SIZE];
    name_object(run, size.name, "", name);
    yaml_line(w, "---");
    render_object_head(w, run, "apps/v1", "Deployment", name, size.name);
    yaml_line(w, "spec:");
    yaml_in(w);
    yaml_line(w, "replicas: 1");
    yaml_line(w, "selector:");
    yaml_in(w);
    yaml_line(w, "matchLabels:");
    yaml_in(w);
    yaml_text(w, "app.kubernetes.io/instance", run->name);
    yaml_line(w, "app.kubernetes.io/component: exporter");
    yaml_out(w, 2);
    yaml_line(w, "template:");
    render_template_head(w, run, size.name, TEMPLATE_OF_EXPORTER);
    render_container(w, run, &size, NULL, script);
    render_template_end(w, run, &size);
}

/* Lets Prometheus reach the exporter from anywhere in the cluster. */
static void put_policy(struct yaml_writer *w, const struct render_run *run)
{
    static const int64_t port = EXPORTER_PORT;
    char name[OBJECT_NAME_SIZE];
    const struct render_policy policy = {.name = name,
                                         .component = "exporter",
                                         .is_of_component = true,
                                         .is_ingress = true,
                                         .port = &port,
                                         .port_count = 1};
    name_object(run, policy.component, "", name);
    render_network_policy(w, run, &policy);
}

void render_keda(struct yaml_writer *w, const struct render_run *run)
{
    struct json_writer script = {0}; /* used as a growing text only */
    struct render_run least = *run;
    least.workers = 1;
    put_script(&script, run);
    w->failed = json_writer_finish(&script, NULL) != ERROR_NONE;
    if (!w->failed) {
        render_jobs(w, &least);
        for (int i = 0; i < STAGE_COUNT; i++)
            if (run->stage[i].pods == PODS_WORKERS && run->workers > 1)
                put_scaled_job(w, run, &run->stage[i]);
        put_exporter(w, run, script.text);
        put_policy(w, run);
    }
    json_writer_release(&script);
}
