#include "pipelines/run/crew_growth.h"

#include "common/base/clock.h"
#include "pipelines/run/workers_log.h"
#include "stages/plan/chain/gradient_sums.h"

#include <inttypes.h>
#include <stdio.h>

enum { LOOK_PERIOD_MS = 50, SAMPLE_MS = 400, SAMPLE_ROUNDS = 2 };

void crew_growth_begin(struct crew_growth *growth, const struct run_folder *folder, int most,
                       bool quiet)
{
    *growth = (struct crew_growth){.folder = folder, .quiet = quiet, .units = -1};
    worker_growth_begin(&growth->rule, most);
}

/* Logs a decision. `was` is the rule before its newest measurement. */
static void tell_decision(const struct crew_growth *growth, const struct worker_growth *was)
{
    const struct worker_growth *is = &growth->rule;
    char next[48] = "", text[160];
    const bool tries = is->phase == GROWTH_TRYING_MORE || is->phase == GROWTH_TRYING_FEWER;
    if (tries)
        (void)snprintf(next, sizeof next, "; trying %d", is->count);
    if (was->phase == GROWTH_MEASURING || was->phase == GROWTH_HOLDING) {
        if (!tries)
            return;
        (void)snprintf(text, sizeof text, "%d of each stage: %.2f rounds a second%s", was->count,
                       is->before, next);
    } else {
        const bool more = was->phase == GROWTH_TRYING_MORE;
        const int before = was->count + (more ? -1 : 1);
        const bool stays = tries || is->count == was->count;
        const char *verdict = stays ? "kept" : more ? "taken back" : "put back";
        (void)snprintf(text, sizeof text,
                       "%d of each stage: %.2f rounds a second, with %d %.2f: %s%s", was->count,
                       is->during, before, was->before, verdict, next);
    }
    workers_log_tell(growth->folder, growth->quiet, text);
}

static enum error_code follow(struct stage_crew *crew, int count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && crew->sets < count)
        rc = stage_crew_add_set(crew, err);
    while (crew->sets > count)
        stage_crew_take_back_set(crew);
    return rc;
}

static enum error_code note(struct crew_growth *growth, struct stage_crew *crew, double rate,
                            struct error *err)
{
    const struct worker_growth was = growth->rule;
    const bool changed = worker_growth_note(&growth->rule, rate);
    if (growth->rule.phase != was.phase || changed)
        tell_decision(growth, &was);
    if (!changed)
        return ERROR_NONE;
    growth->units = -1;
    return follow(crew, growth->rule.count, err);
}

/* Returns the number of units of aggregate in one round. */
static double units_a_round(const struct crew_growth *growth)
{
    return 1.0 + gradient_sum_count(&growth->folder->run.schedule, 0);
}

enum error_code crew_growth_turn(struct crew_growth *growth, struct stage_crew *crew,
                                 struct work_queue *queue, struct error *err)
{
    const int64_t now = clock_ms();
    struct stage_counts counts = {0};
    if (now - growth->look_ms < LOOK_PERIOD_MS)
        return ERROR_NONE;
    growth->look_ms = now;
    if (!stage_crew_is_settled(crew) ||
        work_queue_counts(queue, "aggregate", &counts, NULL) != ERROR_NONE) {
        growth->units = -1;
        return ERROR_NONE;
    }
    /* the queue was filled again, so its counts start from 0 */
    if (growth->units < 0 || counts.done < growth->units) {
        growth->units = counts.done;
        growth->from_ms = 0;
    }
    if (counts.done == growth->units)
        return ERROR_NONE;
    growth->units = counts.done;
    if (!growth->from_ms) {
        growth->from_ms = now;
        growth->from_units = counts.done;
        return ERROR_NONE;
    }
    const double rounds = (double)(counts.done - growth->from_units) / units_a_round(growth);
    if (rounds < SAMPLE_ROUNDS || now - growth->from_ms < SAMPLE_MS)
        return ERROR_NONE;
    const double rate = rounds * 1000.0 / (double)(now - growth->from_ms);
    growth->from_ms = now;
    growth->from_units = counts.done;
    return note(growth, crew, rate, err);
}
