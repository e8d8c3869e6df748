/*
 * The form "argo": a Workflow (argoproj.io/v1alpha1). Its graph starts a stage when the data that
 * it reads are complete: ingest, partition, then the looping stages side by side, one Pod for each
 * worker.
 */
#include "pipelines/render/render_pod.h"

#include <inttypes.h>

static void put_head(struct yaml_writer *w, const struct render_run *run)
{
    yaml_line(w, "---");
    render_object_head(w, run, "argoproj.io/v1alpha1", "Workflow", run->name, "run");
    yaml_line(w, "spec:");
    yaml_in(w);
    yaml_line(w, "entrypoint: run");
    yaml_line(w, "podMetadata:");
    yaml_in(w);
    render_labels(w, run, "run");
    yaml_out(w, 1);
    yaml_line(w, "ttlStrategy:");
    yaml_in(w);
    yaml_line(w, "secondsAfterCompletion: 604800");
    yaml_out(w, 1);
    /* Argo's own container reports the result of a step with this account; the steps have no
     * token. */
    yaml_line(w, "executor:");
    yaml_in(w);
    yaml_line(w, "serviceAccountName: default");
    yaml_out(w, 1);
    render_pod_security(w);
}

static void put_task(struct yaml_writer *w, const struct render_run *run, int index)
{
    const struct render_stage *stage = &run->stage[index];
    yaml_dash(w);
    yaml_line(w, "name: %s", stage->name);
    yaml_line(w, "template: %s", stage->name);
    if (index > 0)
        yaml_line(w, "depends: %s.Succeeded",
                  run->stage[index < STAGE_ONCE_COUNT ? index - 1 : STAGE_ONCE_COUNT - 1].name);
    yaml_line(w, "withSequence:");
    yaml_in(w);
    yaml_line(w, "count: \"%" PRId64 "\"", render_pod_count(run, stage));
    yaml_out(w, 1);
}

/* Writes when Argo retries. A stop, or data that are not there yet, is no failure; wrong usage, bad
 * data, a bug and wrong settings are final. */
static void put_retries(struct yaml_writer *w)
{
    yaml_line(w, "retryStrategy:");
    yaml_in(w);
    yaml_line(w, "retryPolicy: Always");
    yaml_line(w, "expression: \"!(asInt(lastRetry.exitCode) in [64, 65, 70, 78])\"");
    yaml_line(w, "backoff:");
    yaml_in(w);
    yaml_line(w, "duration: 30s");
    yaml_out(w, 2);
}

static void put_template(struct yaml_writer *w, const struct render_run *run,
                         const struct render_stage *stage)
{
    char program[48];
    (void)snprintf(program, sizeof program, "graphmill-%s", stage->name);
    yaml_dash(w);
    yaml_line(w, "name: %s", stage->name);
    yaml_line(w, "metadata:");
    yaml_in(w);
    render_labels(w, run, stage->name);
    yaml_out(w, 1);
    put_retries(w);
    render_volumes(w, run, stage);
    yaml_line(w, "container:");
    yaml_in(w);
    render_container(w, run, stage, program, NULL);
    yaml_out(w, 1);
}

void render_argo(struct yaml_writer *w, const struct render_run *run)
{
    render_shared(w, run);
    put_head(w, run);
    yaml_line(w, "templates:");
    yaml_in(w);
    yaml_dash(w);
    yaml_line(w, "name: run");
    yaml_line(w, "dag:");
    yaml_in(w);
    yaml_line(w, "tasks:");
    yaml_in(w);
    for (int i = 0; i < STAGE_COUNT; i++)
        put_task(w, run, i);
    yaml_out(w, 2);
    for (int i = 0; i < STAGE_COUNT; i++)
        put_template(w, run, &run->stage[i]);
    yaml_out(w, 2);
}
