/*
 * The form "indexed": one Indexed Job for all stages. Pod 0 ingests, partitions and starts the run;
 * the other Pods are the looping stages in turn. All Pods have the size of the largest stage,
 * because a Job has one template.
 */
#include "common/base/json.h"
#include "pipelines/render/render_pod.h"
#include "pipelines/shared/own_command.h"

#include <inttypes.h>
#include <stdio.h>

static void put_word(void *context, const char *argument)
{
    static char word[SHELL_WORD_SIZE]; /* too large for a stack; rendering uses one thread */
    json_put_raw(context, " ");
    json_put_raw(context, shell_word(argument, word));
}

static void put_program(struct json_writer *script, const struct render_run *run,
                        const struct render_stage *stage)
{
    json_put_raw(script, "graphmill-");
    json_put_raw(script, stage->name);
    render_arguments(run, stage, put_word, script);
    if (render_stage_loops(stage))
        json_put_raw(script, " --worker=\"$POD_NAME\"");
}

static void put_numbers(struct json_writer *script, int64_t first, int64_t count)
{
    char number[32];
    for (int64_t k = 0; k < count; k++) {
        (void)snprintf(number, sizeof number, "%s%" PRId64, k ? "|" : "", first + k);
        json_put_raw(script, number);
    }
}

/* Writes "case ... esac" over the number of the Pod. Returns the number of Pods. */
static int64_t put_script(struct json_writer *script, const struct render_run *run)
{
    int64_t pods = 1;
    json_put_raw(script, "case $JOB_COMPLETION_INDEX in\n0)\n");
    for (int i = 0; i < STAGE_ONCE_COUNT; i++) {
        const bool last = i == STAGE_ONCE_COUNT - 1;
        json_put_raw(script, last ? "  exec " : "  ");
        put_program(script, run, &run->stage[i]);
        json_put_raw(script, last ? " ;;\n" : "\n");
    }
    for (int i = STAGE_ONCE_COUNT; i < STAGE_COUNT; i++) {
        const int64_t count = render_pod_count(run, &run->stage[i]);
        put_numbers(script, pods, count);
        json_put_raw(script, ")\n  exec ");
        put_program(script, run, &run->stage[i]);
        json_put_raw(script, " ;;\n");
        pods += count;
    }
    json_put_raw(script, "*)\n  echo \"no stage for Pod $JOB_COMPLETION_INDEX\" >&2\n  exit 78 ;;\n"
                         "esac\n");
    return pods;
}

static struct render_stage largest(const struct render_run *run)
{
    struct render_stage all = run->stage[0];
    for (int i = 1; i < STAGE_COUNT; i++) {
        const struct render_stage *s = &run->stage[i];
        all.cpu_milli = s->cpu_milli > all.cpu_milli ? s->cpu_milli : all.cpu_milli;
        all.memory_mib = s->memory_mib > all.memory_mib ? s->memory_mib : all.memory_mib;
        all.scratch_gib = s->scratch_gib > all.scratch_gib ? s->scratch_gib : all.scratch_gib;
    }
    all.name = "run";
    return all;
}

void render_indexed(struct yaml_writer *w, const struct render_run *run)
{
    const struct render_stage size = largest(run);
    struct json_writer script = {0}; /* used as a growing text only */
    const int64_t pods = put_script(&script, run);
    w->failed = json_writer_finish(&script, NULL) != ERROR_NONE;
    if (!w->failed) {
        render_shared(w, run);
        render_job_head(w, run, run->name, size.name, pods);
        render_template_head(w, run, size.name, TEMPLATE_OF_JOB);
        render_container(w, run, &size, NULL, script.text);
        render_template_end(w, run, &size);
    }
    json_writer_release(&script);
}
