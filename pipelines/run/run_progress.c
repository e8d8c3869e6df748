#include "pipelines/run/run_progress.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "pipelines/shared/terminal.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/model/loss_warning.h"
#include "store/objects/keys.h"
#include "store/records/round/snapshot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLAIN_PERIOD_MS = 10000,
    LOOK_MS = 500, /* 64 looks cover half a minute */
    INFER = STAGE_LOOP_COUNT - 1,
    AGGREGATE = 2,
};

/* --- what is known --- */

static bool has_weights(const struct run_folder *folder, int64_t version)
{
    bool found = false;
    return version <= folder->run.schedule.round_count &&
           store_has(folder->store, key_weights(folder->run.plan.id, version).text, &found, NULL) ==
               ERROR_NONE &&
           found;
}

/* Finds the newest round after the snapshot whose weights are stored. Such a round is complete and
 * no longer in the queue. The rounds are consecutive, so doubling steps ask for only a few of
 * them. */
static int64_t newest_weights(const struct run_folder *folder, int64_t snapshot)
{
    int64_t step = 1, version = snapshot < 0 ? 0 : snapshot;
    while (has_weights(folder, version + step)) {
        version += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (has_weights(folder, version + step))
            version += step;
    return version;
}

void run_progress_begin(struct run_progress *progress, const struct run_folder *folder, bool quiet)
{
    *progress = (struct run_progress){.quiet = quiet,
                                      .on_terminal = isatty(STDERR_FILENO) == 1,
                                      .started_ms = clock_ms(),
                                      .last_ms = clock_ms(),
                                      .snapshot_version = -1};
    must(strcmp(stage_loop[AGGREGATE].name, "aggregate") == 0);
    int64_t snapshot = -1;
    if (snapshot_current_version(folder->store, folder->run.plan.id, &snapshot, NULL, NULL) !=
        ERROR_NONE)
        snapshot = -1;
    progress->filled_version = newest_weights(folder, snapshot);
    if (progress->filled_version > 0 && !quiet)
        (void)fprintf(stderr, "resuming   from round %" PRId64 " of %" PRId64 "\n",
                      progress->filled_version, folder->run.schedule.round_count);
}

static void tell_warnings(struct run_progress *progress, const struct snapshot *snapshot)
{
    char text[LOSS_WARNING_SIZE];
    const int64_t found = snapshot->loss_warnings & ~progress->loss_warnings;
    if (found && progress->on_terminal)
        terminal_panel_clear();
    for (unsigned bit = 1; bit < 1U << LOSS_WARNING_COUNT; bit <<= 1)
        if (found & bit)
            log_warn("%s", loss_warning_text(bit, fmax(snapshot->train_loss, snapshot->valid_loss),
                                             text));
    progress->loss_warnings |= found;
}

/* Reads the numbers of the newest snapshot, if it is newer than the last one read. */
static void read_snapshot(struct run_progress *progress, const struct run_folder *folder)
{
    int64_t version = -1;
    const char *run_id = folder->run.plan.id;
    struct snapshot snapshot = {0};
    if (snapshot_current_version(folder->store, run_id, &version, NULL, NULL) != ERROR_NONE ||
        version == progress->snapshot_version ||
        snapshot_get(folder->store, run_id, version, &snapshot, NULL) != ERROR_NONE)
        return;
    progress->snapshot_version = version;
    progress->epoch = snapshot.epoch;
    progress->loss = snapshot.train_loss;
    progress->valid = snapshot.valid_metric;
    progress->best = snapshot.best_metric;
    tell_warnings(progress, &snapshot);
    store_release_record(&snapshot.view);
}

static const struct progress_look *newest_look(const struct run_progress *progress)
{
    return progress->look_count ? &progress->look[(progress->look_count - 1) % PROGRESS_LOOKS]
                                : NULL;
}

/* Returns the first look of the last half minute; for a stage that began later, the last look
 * before it did. */
static const struct progress_look *oldest_look(const struct run_progress *progress, int stage)
{
    enum { WINDOW_MS = 30000 };
    const int64_t count = progress->look_count;
    const int64_t since = clock_ms() - WINDOW_MS;
    int64_t first = count > PROGRESS_LOOKS ? count - PROGRESS_LOOKS : 0;
    while (first + 1 < count && progress->look[first % PROGRESS_LOOKS].ms < since)
        first++;
    while (stage >= 0 && first + 1 < count &&
           progress->look[(first + 1) % PROGRESS_LOOKS].units[stage] == 0)
        first++;
    return &progress->look[first % PROGRESS_LOOKS];
}

static int64_t rounds_done(const struct run_progress *progress)
{
    const int64_t counted = progress->filled_version + progress->counts[AGGREGATE].done;
    return counted > progress->snapshot_version ? counted : progress->snapshot_version;
}

/* Restarts the rates if the queue was filled again: its counts then start from 0. */
static void see_filled_anew(struct run_progress *progress, const struct run_folder *folder)
{
    const struct progress_look *last = newest_look(progress);
    for (int i = 0; last && i < STAGE_LOOP_COUNT; i++)
        if (progress->counts[i].done < last->units[i]) {
            progress->look_count = 0;
            progress->filled_version = newest_weights(folder, progress->snapshot_version) -
                                       progress->counts[AGGREGATE].done;
            return;
        }
}

static void look(struct run_progress *progress, const struct run_folder *folder,
                 struct work_queue *queue, int64_t now)
{
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        if (work_queue_counts(queue, stage_loop[i].name, &progress->counts[i], NULL) != ERROR_NONE)
            return; /* Redis does not answer: keep the last counts */
    see_filled_anew(progress, folder);
    const struct progress_look *last = newest_look(progress);
    if (last && now - last->ms < LOOK_MS)
        return;
    struct progress_look *next = &progress->look[progress->look_count++ % PROGRESS_LOOKS];
    next->ms = now;
    next->rounds = rounds_done(progress);
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        next->units[i] = progress->counts[i].done;
}

/* Returns the rate per second over the period of the looks; 0: not known yet. `stage` -1 means
 * rounds of training. */
static double rate_of(const struct run_progress *progress, int stage)
{
    const struct progress_look *first = oldest_look(progress, stage);
    const int64_t ms = progress->look_count ? clock_ms() - first->ms : 0;
    const int64_t done = stage < 0 ? rounds_done(progress) - first->rounds
                                   : progress->counts[stage].done - first->units[stage];
    return ms > 0 && done > 0 ? (double)done * 1000.0 / (double)ms : 0.0;
}

/* Returns the number of inference units: each part in each layer, and the outputs. */
static int64_t inference_units(const struct schedule *s)
{
    return s->infers_some
               ? 1
               : (int64_t)(s->layer_count + 1 - schedule_first_layer(s)) * s->part_count + 1;
}

/* progress of the current phase: training, or inference once training has ended */
struct standing {
    const char *name;
    int64_t done, all;
    double rate;
};

static struct standing standing_of(const struct run_progress *progress,
                                   const struct schedule *schedule)
{
    const struct stage_counts *infer = &progress->counts[INFER];
    if (infer->done + infer->leased + infer->waiting > 0)
        return (struct standing){"inference", infer->done, inference_units(schedule),
                                 rate_of(progress, INFER)};
    return (struct standing){"training", rounds_done(progress), schedule->round_count,
                             rate_of(progress, -1)};
}

/* --- words --- */

/* Writes "12 s left", "3 min 05 s left" or "2 h 40 min left"; "" when it is unknown or 0. */
static const char *time_left(const struct standing *standing, char text[64])
{
    text[0] = '\0';
    if (standing->rate <= 0.0 || standing->done >= standing->all)
        return text;
    const double exact = ceil((double)(standing->all - standing->done) / standing->rate);
    const int64_t seconds = exact < 1e9 ? (int64_t)exact : 1000000000;
    if (seconds < 60)
        (void)snprintf(text, 64, "%" PRId64 " s left", seconds);
    else if (seconds < 3600)
        (void)snprintf(text, 64, "%" PRId64 " min %02" PRId64 " s left", seconds / 60,
                       seconds % 60);
    else
        (void)snprintf(text, 64, "%" PRId64 " h %02" PRId64 " min left", seconds / 3600,
                       seconds / 60 % 60);
    return text;
}

/* Writes " of <all> <units>", and the epoch. */
static void put_position(FILE *out, const struct run_progress *progress,
                         const struct schedule *schedule, const struct standing *standing)
{
    if (standing->name[0] == 'i')
        (void)fprintf(out, "%" PRId64 " of %" PRId64 " units", standing->done, standing->all);
    else
        (void)fprintf(out, "round %" PRId64 " of %" PRId64 ", epoch %" PRId64 " of %" PRId64,
                      standing->done, standing->all,
                      progress->snapshot_version < 0 ? 0 : progress->epoch, schedule->epochs);
}

static void put_scores(FILE *out, const struct run_progress *progress)
{
    char loss[32], valid[32], best[32];
    if (progress->snapshot_version >= 0)
        (void)fprintf(out, "loss %s  valid %s  best %s", text_score(progress->loss, loss),
                      text_score(progress->valid, valid), text_score(progress->best, best));
}

/* Writes a bar as wide as the screen. */
static void put_bar(FILE *out, const struct standing *standing, int64_t ms)
{
    enum { AROUND = 45, SHORTEST = 8, LONGEST = 60 };
    const int room = terminal_columns(STDERR_FILENO) - AROUND;
    const int columns = room > LONGEST ? LONGEST : room;
    const double share = standing->all ? (double)standing->done / (double)standing->all : 0.0;
    char bar[TERMINAL_BAR_SIZE], left[64];
    (void)fprintf(out, "%s%-10s%s %5.1f s ", terminal_style(STDERR_FILENO, STYLE_BOLD),
                  standing->name, terminal_style(STDERR_FILENO, STYLE_PLAIN), (double)ms / 1000.0);
    if (columns >= SHORTEST)
        (void)fprintf(out, " %s%s%s ", terminal_style(STDERR_FILENO, STYLE_GOOD),
                      terminal_bar(share, columns, bar),
                      terminal_style(STDERR_FILENO, STYLE_PLAIN));
    (void)fprintf(out, " %3.0f %%  %s\n", floor(100.0 * (share < 1.0 ? share : 1.0)),
                  time_left(standing, left));
}

static void put_stage(FILE *out, const struct run_progress *progress, int stage)
{
    const struct stage_counts *counts = &progress->counts[stage];
    const bool idle = counts->leased + counts->waiting == 0;
    (void)fprintf(out, "%s%-10s %7" PRId64 " %7.1f/s %3" PRId64 " running %4" PRId64 " waiting",
                  idle ? terminal_style(STDERR_FILENO, STYLE_DIM) : "", stage_loop[stage].name,
                  counts->done, rate_of(progress, stage), counts->leased, counts->waiting);
    if (counts->retried)
        (void)fprintf(out, " %4" PRId64 " retried", counts->retried);
    (void)fprintf(out, "\n");
}

static void draw_panel(const struct run_progress *progress, const struct schedule *schedule,
                       int64_t now)
{
    const struct standing standing = standing_of(progress, schedule);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    put_bar(out, &standing, now - progress->started_ms);
    put_position(out, progress, schedule, &standing);
    (void)fprintf(out, "\n");
    put_scores(out, progress);
    (void)fprintf(out, "\n");
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        put_stage(out, progress, i);
    if (fclose(out) == 0)
        terminal_panel_draw(text);
    free(text); /* allocated by open_memstream() */
}

/* Prints a line for logs. */
static void print_plain(const struct run_progress *progress, const struct schedule *schedule,
                        int64_t now)
{
    const struct standing standing = standing_of(progress, schedule);
    char left[64];
    (void)fprintf(stderr, "%-10s %5.1f s  ", standing.name,
                  (double)(now - progress->started_ms) / 1000.0);
    put_position(stderr, progress, schedule, &standing);
    if (standing.rate > 0.0)
        (void)fprintf(stderr, ", %.1f %s/s", standing.rate,
                      standing.name[0] == 'i' ? "units" : "rounds");
    if (time_left(&standing, left)[0])
        (void)fprintf(stderr, ", %s", left);
    (void)fprintf(stderr, "  ");
    put_scores(stderr, progress);
    (void)fprintf(stderr, "\n");
}

void run_progress_draw(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue)
{
    const int64_t now = clock_ms();
    const int64_t period = progress->on_terminal ? TERMINAL_DRAW_MS : PLAIN_PERIOD_MS;
    if (progress->quiet || (now - progress->last_ms < period && progress->look_count))
        return;
    const bool is_first = progress->look_count == 0;
    read_snapshot(progress, folder);
    look(progress, folder, queue, now);
    if (is_first && !progress->on_terminal)
        return; /* the rates are measured from here on */
    progress->last_ms = now;
    if (progress->on_terminal)
        draw_panel(progress, &folder->run.schedule, now);
    else
        print_plain(progress, &folder->run.schedule, now);
}

void run_progress_end(struct run_progress *progress, const struct run_folder *folder)
{
    read_snapshot(progress, folder);
    if (progress->on_terminal)
        terminal_panel_clear();
}
