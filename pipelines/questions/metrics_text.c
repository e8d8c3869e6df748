#include "pipelines/questions/metrics_text.h"

#include "common/base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct exposition { /* {0} is empty */
    char *text;
    size_t size, capacity;
    bool failed;
    const char *run;                   /* value of the label `run`, on every line */
    const struct metrics_label *label; /* one more label, or NULL */
};

PRINTF_LIKE(2, 3)
static void put(struct exposition *out, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int size = vsnprintf(NULL, 0, format, list);
    if (size > 0 && !out->failed) {
        out->failed = memory_grow(&out->text, &out->capacity, out->size + (size_t)size + 1,
                                  "metrics", NULL) != ERROR_NONE;
        if (!out->failed)
            (void)vsnprintf(out->text + out->size, (size_t)size + 1, format, again);
        out->size += out->failed ? 0 : (size_t)size;
    }
    va_end(again);
    va_end(list);
}

static void begin(struct exposition *out, const char *name, const char *type, const char *help)
{
    put(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes a label with backslash, quote and line feed escaped in its value. */
static void put_label(struct exposition *out, const char *name, const char *value)
{
    put(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            put(out, "\\n");
        else
            put(out, "%s%c", *value == '\\' || *value == '"' ? "\\" : "", *value);
    }
    put(out, "\"");
}

/* Writes a line. `names` and `values` [count] are labels besides that of the run. */
static void put_line(struct exposition *out, const char *metric, const char *const *names,
                     const char *const *values, size_t count, double value)
{
    put(out, "%s{", metric);
    put_label(out, "run", out->run);
    if (out->label) {
        put(out, ",");
        put_label(out, out->label->name, out->label->value);
    }
    for (size_t i = 0; i < count; i++) {
        put(out, ",");
        put_label(out, names[i], values[i]);
    }
    put(out, "} %.9g\n", value);
}

static void put_number(struct exposition *out, const char *name, const char *help, double value)
{
    if (!isfinite(value))
        return;
    begin(out, name, "gauge", help);
    put_line(out, name, NULL, NULL, 0, value);
}

static void put_run(struct exposition *out, const struct run_folder *folder,
                    const struct run_status *status)
{
    static const char *const state[] = {"state"};
    const char *word = run_status_word(status);
    begin(out, "graphmill_run_state", "gauge", "1 for the state that the run is in.");
    put_line(out, "graphmill_run_state", state, &word, 1, 1.0);
    if (!out->run[0])
        return;
    put_number(out, "graphmill_rounds", "Rounds that the run has.",
               (double)folder->run.schedule.round_count);
    put_number(out, "graphmill_rounds_done", "Rounds behind the newest snapshot.",
               status->chain.snapshot_version < 0 ? 0.0 : (double)status->chain.snapshot_version);
    put_number(out, "graphmill_finished", "1 when the outputs are written.",
               status->chain.finished ? 1.0 : 0.0);
    if (status->chain.snapshot_version < 0)
        return;
    put_number(out, "graphmill_epoch", "Epoch of the newest snapshot, from 1.",
               (double)status->epoch);
    put_number(out, "graphmill_train_loss", "Training loss up to the newest snapshot.",
               status->train_loss);
    if (status->gradient_error > 0)
        put_number(out, "graphmill_gradient_error",
                   "Share of their norm that encoding lost of the gradients of the newest "
                   "snapshot's last round.",
                   status->gradient_error);
    put_number(out, "graphmill_valid_metric", "Validation metric of the newest snapshot.",
               status->valid_metric);
    put_number(out, "graphmill_best_metric", "Best validation metric so far.", status->best_metric);
}

static double count_done(const struct stage_counts *counts)
{
    return (double)counts->done;
}

static double count_running(const struct stage_counts *counts)
{
    return (double)counts->leased;
}

static double count_waiting(const struct stage_counts *counts)
{
    return (double)counts->waiting;
}

static double count_retried(const struct stage_counts *counts)
{
    return (double)counts->retried;
}

static const struct stage_metric {
    const char *name, *type, *help;
    double (*value)(const struct stage_counts *counts);
} stage_metrics[] = {
    {"graphmill_units_done_total", "counter", "Units that were done.", count_done},
    {"graphmill_units_running", "gauge", "Units that workers hold.", count_running},
    {"graphmill_units_waiting", "gauge",
     "Units that wait in the queue; 0 when nobody is to take one any more.", count_waiting},
    {"graphmill_units_retried_total", "counter", "Units that were given out again.", count_retried},
};

static void put_stages(struct exposition *out, const struct run_status *status)
{
    static const char *const label[] = {"stage"};
    const bool is_over = status->chain.finished || status->failed_stage[0];
    for (size_t m = 0; m < sizeof stage_metrics / sizeof *stage_metrics; m++) {
        const struct stage_metric *metric = &stage_metrics[m];
        begin(out, metric->name, metric->type, metric->help);
        for (int i = 0; i < STAGE_LOOP_COUNT; i++)
            put_line(out, metric->name, label, &stage_loop[i].name, 1,
                     is_over && metric->value == count_waiting ? 0
                                                               : metric->value(&status->counts[i]));
    }
}

static double beat_busy(const struct worker_beat *beat)
{
    return beat->busy_share;
}

static double beat_memory(const struct worker_beat *beat)
{
    return (double)beat->memory_bytes;
}

static double beat_age(const struct worker_beat *beat)
{
    return beat->age_seconds;
}

static double beat_done(const struct worker_beat *beat)
{
    return (double)beat->done;
}

static const struct worker_metric {
    const char *name, *type, *help;
    double (*value)(const struct worker_beat *beat);
} worker_metrics[] = {
    {"graphmill_worker_busy_ratio", "gauge", "Share of its time that a worker does not wait.",
     beat_busy},
    {"graphmill_worker_memory_bytes", "gauge", "Memory that a worker has in use.", beat_memory},
    {"graphmill_worker_beat_age_seconds", "gauge", "Seconds since a worker was heard of.",
     beat_age},
    {"graphmill_worker_units_done_total", "counter", "Units that a worker has done.", beat_done},
};

static void put_workers(struct exposition *out, const struct run_status *status)
{
    static const char *const label[] = {"stage", "worker", "host"};
    for (size_t m = 0; m < sizeof worker_metrics / sizeof *worker_metrics; m++) {
        const struct worker_metric *metric = &worker_metrics[m];
        begin(out, metric->name, metric->type, metric->help);
        for (int i = 0; i < status->beat_count; i++) {
            const struct worker_beat *beat = &status->beat[i];
            const char *const value[] = {beat->stage, beat->worker, beat->host};
            put_line(out, metric->name, label, value, 3, metric->value(beat));
        }
    }
}

bool metrics_label_is_free(const char *name, size_t size)
{
    static const char *const taken[] = {"run", "state", "stage", "worker", "host"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == size && strncmp(name, taken[i], size) == 0)
            return false;
    for (size_t i = 0; i < size; i++)
        if (name[i] != '_' && !isalpha((unsigned char)name[i]) &&
            (i == 0 || !isdigit((unsigned char)name[i])))
            return false;
    /* Prometheus reserves names that begin with "__" */
    return size > 0 && strncmp(name, "__", 2) != 0;
}

enum error_code metrics_text_make(const struct run_folder *folder, const struct run_status *status,
                                  const struct metrics_label *label, char **text, size_t *size,
                                  struct error *err)
{
    struct exposition out = {.run = folder->run.plan.id, .label = label};
    put_run(&out, folder, status);
    put_number(&out, "graphmill_queue_up", "1 while the run's Redis answers.",
               status->connected ? 1.0 : 0.0);
    if (status->connected) {
        put_stages(&out, status);
        put_workers(&out, status);
    }
    *text = out.text;
    *size = out.size;
    if (!out.failed)
        return ERROR_NONE;
    memory_free(out.text);
    *text = NULL;
    return error_set(err, ERROR_NO_MEMORY, "no memory for metrics");
}
