#include "pipelines/run_progress.h"

#include "common/base/clock.h"
#include "common/base/text.h"
#include "pipelines/stage_crew.h"
#include "store/records/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TERMINAL_PERIOD_MS = 250, PLAIN_PERIOD_MS = 10000 };

void run_progress_begin(struct run_progress *progress, const struct run_folder *folder, bool quiet)
{
    *progress = (struct run_progress){.quiet = quiet,
                                      .on_terminal = isatty(STDERR_FILENO) == 1,
                                      .started_ms = clock_ms(),
                                      .last_ms = clock_ms(),
                                      .metric_version = -1};
    int64_t version = -1;
    if (snapshot_current_version(folder->store, folder->run.plan.id, &version, NULL) ==
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
    if (snapshot_current_version(folder->store, run_id, &version, NULL) != ERROR_NONE ||
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

static void draw_table(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue)
{
    if (progress->lines)
        (void)fprintf(stderr, "\033[%dA", progress->lines);
    progress->lines = 0;
    for (int i = 0; i < CREW_STAGE_COUNT; i++) {
        struct stage_counts counts = {0};
        if (work_queue_counts(queue, crew_stage[i], &counts, NULL) != ERROR_NONE)
            continue;
        (void)fprintf(stderr,
                      "%-10s done %8" PRId64 "  running %3" PRId64 "  waiting %5" PRId64
                      "  retried %3" PRId64 "\033[K\n",
                      crew_stage[i], counts.done, counts.leased, counts.waiting, counts.retried);
        progress->lines++;
    }
    const double left = seconds_left(progress, folder);
    (void)fprintf(stderr, "%s", progress->last_metric);
    if (left >= 0.0)
        (void)fprintf(stderr, " left %.0f s", left);
    (void)fprintf(stderr, "\033[K\n");
    progress->lines++;
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
    else if (progress->last_metric[0])
        (void)fprintf(stderr, "training   %5.1f s  %s\n",
                      (double)(now - progress->started_ms) / 1000.0, progress->last_metric);
}

void run_progress_end(struct run_progress *progress)
{
    progress->lines = 0;
}
