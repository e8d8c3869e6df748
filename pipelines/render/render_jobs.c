/* The form "jobs": an Indexed Job for each stage. */
#include "pipelines/render/render_pod.h"

static void put_job(struct yaml_writer *w, const struct render_run *run,
                    const struct render_stage *stage)
{
    char name[RENDER_NAME_SIZE + 32], program[48];
    (void)snprintf(name, sizeof name, "%s-%s", run->name, stage->name);
    (void)snprintf(program, sizeof program, "graphmill-%s", stage->name);
    render_job_head(w, run, name, stage->name, render_pod_count(run, stage));
    render_template_head(w, run, stage->name, TEMPLATE_OF_JOB);
    render_container(w, run, stage, program, NULL);
    render_template_end(w, run, stage);
}

void render_jobs(struct yaml_writer *w, const struct render_run *run)
{
    render_shared(w, run);
    for (int i = 0; i < STAGE_COUNT; i++)
        put_job(w, run, &run->stage[i]);
}
