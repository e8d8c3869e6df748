#include "pipelines/run_progress.h"

#include "common/base/clock.h"
#include "common/base/text.h"
#include "pipelines/terminal.h"
#include "stages/engine/stage_list.h"
#include "store/records/snapshot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TERMINAL_PERIOD_MS = 250, PLAIN_PERIOD_MS = 10000, LINE_SIZE = 400 };

void run_progress_begin(struct run_progress *progress, const struct run_folder *folder, bool quiet)
{
    *progress = (struct run_progress){.quiet = quiet,
                                      .on_terminal = isatty(STDERR_FILENO) == 1,
                                      .started_ms = clock_ms(),
                                      .last_ms = clock_ms(),
                                      .metric_version = -1};
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        progress->rate[i].first = -1;
    int64_t version = -1;
    if (snapshot_current_version(folder->store, folder->run.plan.id, &version, NULL, NULL) ==
            ERROR_NONE &&
        !quiet)
        (void)fprintf(stderr, "resuming   from round %" PRId64 " of %" PRId64 "\n", version,
                      folder->run.schedule.round_count);
    progress->first_version = version < 0 ? 0 : version;
}

/* The newest snapshot's numbers, read only when there is a newer one. */
static void read_metric(struct run_progress *progress, const struct run_folder *folder)
{
    int64_t version = -1;
    const char *run_id = folder->run.plan.id;
    if (snapshot_current_version(folder->store, run_id, &version, NULL, NULL) != ERROR_NONE ||
        version == progress->metric_version)
        return;
    struct snapshot snapshot = {0};
    char valid[32], best[32];
    if (snapshot_get(folder->store, run_id, version, &snapshot, NULL) != ERROR_NONE)
        return;
    (void)snprintf(
        progress->last_metric, sizeof progress->last_metric,
        "epoch %" PRId64 "/%" PRId64 " round %" PRId64 "/%" PRId64 " loss %.4f valid %s best %s",
        snapshot.epoch, folder->run.schedule.epochs, version, folder->run.schedule.round_count,
        snapshot.train_loss, text_score(snapshot.valid_metric, valid),
        text_score(snapshot.best_metric, best));
    progress->metric_version = version;
    store_release_record(&snapshot.view);
}

/* Seconds left in training, from the rounds done since this driver began; -1: unknown. */
static double seconds_left(const struct run_progress *progress, const struct run_folder *folder)
{
    const int64_t done = progress->metric_version - progress->first_version;
    const int64_t left = folder->run.schedule.round_count - progress->metric_version;
    if (done <= 0)
        return -1.0;
    return (double)(clock_ms() - progress->started_ms) / 1000.0 * (double)left / (double)done;
}

/* Of a stage, since its first unit that this driver saw done. */
static double units_a_second(struct run_progress *progress, int stage,
                             const struct stage_counts *counts)
{
    const int64_t now = clock_ms();
    if (progress->rate[stage].first < 0) {
        progress->rate[stage].first = counts->done;
        progress->rate[stage].first_ms = now;
    }
    const int64_t ms = now - progress->rate[stage].first_ms;
    return ms > 0 ? (double)(counts->done - progress->rate[stage].first) * 1000.0 / (double)ms
                  : 0.0;
}

/* Units of inference: each part in each layer, and the outputs. */
static int64_t inference_units(const struct schedule *s)
{
    return s->infers_some
               ? 1
               : (int64_t)(s->layer_count + 1 - schedule_first_layer(s)) * s->part_count + 1;
}

static void say_inference(struct run_progress *progress, const struct run_folder *folder,
                          const struct stage_counts *infer, char *text, size_t size)
{
    const int64_t all = inference_units(&folder->run.schedule);
    const double rate = units_a_second(progress, STAGE_LOOP_COUNT - 1, infer);
    const int64_t left = infer->done < all ? all - infer->done : 0;
    char seconds[40] = "";
    if (rate > 0.0 && left > 0)
        (void)snprintf(seconds, sizeof seconds, ", left %.0f s", ceil((double)left / rate));
    (void)snprintf(text, size,
                   "infer %" PRId64 " of %" PRId64 " units done, %" PRId64 " running%s; %s",
                   infer->done, all, infer->leased, seconds, progress->last_metric);
}

/* What is being done: training, or inference once training has ended. */
static void say_metric(struct run_progress *progress, const struct run_folder *folder,
                       const struct stage_counts *infer, char *text, size_t size)
{
    if (infer->done + infer->leased + infer->waiting > 0) {
        say_inference(progress, folder, infer, text, size);
        return;
    }
    const double left = seconds_left(progress, folder);
    if (left >= 0.0)
        (void)snprintf(text, size, "%s left %.0f s", progress->last_metric, left);
    else
        (void)snprintf(text, size, "%s", progress->last_metric);
}

/* One line of the panel. */
static void draw_line(struct run_progress *progress, const char *text)
{
    terminal_line(text);
    progress->lines++;
}

static void draw_table(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue)
{
    if (progress->lines)
        (void)fprintf(stderr, "\033[%dA", progress->lines);
    progress->lines = 0;
    char text[LINE_SIZE];
    struct stage_counts counts = {0};
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        counts = (struct stage_counts){0};
        if (work_queue_counts(queue, stage_loop[i].name, &counts, NULL) != ERROR_NONE)
            continue;
        (void)snprintf(text, sizeof text,
                       "%-10s done %8" PRId64 "  %7.1f/s  running %3" PRId64 "  waiting %5" PRId64
                       "  retried %3" PRId64,
                       stage_loop[i].name, counts.done, units_a_second(progress, i, &counts),
                       counts.leased, counts.waiting, counts.retried);
        draw_line(progress, text);
    }
    say_metric(progress, folder, &counts, text, sizeof text); /* infer is the last stage */
    draw_line(progress, text);
}

/* A line for logs. */
static void print_plain(struct run_progress *progress, const struct run_folder *folder,
                        struct work_queue *queue, int64_t now)
{
    char text[LINE_SIZE];
    struct stage_counts infer = {0};
    if (work_queue_counts(queue, stage_loop[STAGE_LOOP_COUNT - 1].name, &infer, NULL) != ERROR_NONE)
        infer = (struct stage_counts){0};
    say_metric(progress, folder, &infer, text, sizeof text);
    if (text[0])
        (void)fprintf(stderr, "%-10s %5.1f s  %s\n",
                      strncmp(text, "infer", 5) == 0 ? "inference" : "training",
                      (double)(now - progress->started_ms) / 1000.0, text);
}

void run_progress_draw(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue)
{
    const int64_t now = clock_ms();
    const int64_t period = progress->on_terminal ? TERMINAL_PERIOD_MS : PLAIN_PERIOD_MS;
    if (progress->quiet || now - progress->last_ms < period)
        return;
    progress->last_ms = now;
    read_metric(progress, folder);
    if (progress->on_terminal)
        draw_table(progress, folder, queue);
    else
        print_plain(progress, folder, queue, now);
}

void run_progress_end(struct run_progress *progress)
{
    progress->lines = 0;
}
