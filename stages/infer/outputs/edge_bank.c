#include "stages/infer/outputs/edge_bank.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/graph/edge_index.h"
#include "stages/sampling/pairs/known_pairs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct held_pair {
    uint64_t pair; /* source in the upper half, target in the lower half */
    int64_t time;
    uint16_t type;
};

/* The time of a pair that was never seen. */
static const int64_t never = INT64_MIN;

struct bank { /* the state of one measurement */
    const struct edge_bank_config *config;
    struct held_pair *held; /* [held_count] sorted by pair, type and time */
    size_t held_count;
    float *score[EDGE_BANK_COUNT]; /* [pairs] of the current split */
    uint8_t *truth;                /* [pairs] of the current split */
};

bool edge_bank_is_wanted(const struct pipeline_settings *settings)
{
    struct edge_split split;
    return task_has(settings->ingest.task, TASK_RANKS) &&
           pipeline_edge_split(settings, &split, NULL) == ERROR_NONE &&
           split.kind == EDGE_SPLIT_TIME;
}

/* --- the history --- */

static int compare(const struct held_pair *a, const struct held_pair *b)
{
    if (a->pair != b->pair)
        return a->pair < b->pair ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static int by_pair(const void *a, const void *b)
{
    return compare(a, b);
}

static uint16_t type_of(const struct edge_splits *splits, int split, uint64_t i)
{
    return splits->type[split] ? splits->type[split][i] : 0;
}

static enum error_code list_held(struct bank *bank, struct error *err)
{
    const struct edge_splits *splits = bank->config->splits;
    size_t count = 0;
    if (bank->config->history == HISTORY_TRAINING)
        return ERROR_NONE;
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        count += splits->count[s];
    const enum error_code rc = memory_new(&bank->held, count, "the pairs of EdgeBank", err);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits->count[s]; i++)
            bank->held[bank->held_count++] = (struct held_pair){
                edge_pair_of(splits->undirected, splits->source[s][i], splits->target[s][i]),
                edge_time_at(splits->time[s], i), type_of(splits, s, i)};
    if (rc == ERROR_NONE && count)
        qsort(bank->held, count, sizeof *bank->held, by_pair);
    return rc;
}

/* Returns when the pair was last held out before `time`, or `never`. */
static int64_t last_held(const struct bank *bank, const struct held_pair *asked)
{
    size_t low = 0, high = bank->held_count;
    while (low < high) { /* finds the first pair that is not before `asked` */
        const size_t middle = low + (high - low) / 2;
        if (compare(&bank->held[middle], asked) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct held_pair *found = low ? &bank->held[low - 1] : NULL;
    return found && found->pair == asked->pair && found->type == asked->type ? found->time : never;
}

/* Returns the time of the last edge of the pair in the topology, or `never`. With history `all`,
 * only edges before `time` count. */
static int64_t last_trained(const struct bank *bank, uint32_t source, uint32_t target,
                            uint16_t type, int64_t time)
{
    const struct topology *topology = bank->config->topology;
    const bool has_types_in_rows = topology->width.of[EDGE_TYPE] != 0;
    const uint32_t relation = has_types_in_rows ? 0 : type;
    const struct topology_part *part =
        topology_rows(topology, topology_part_of(topology, target), relation);
    uint64_t first = 0, end = 0;
    int64_t last = never;
    known_pairs_find(topology, relation, source, target, &first, &end);
    const uint64_t start = first < end ? topology_row_start(part, target - part->first_node) : 0;
    for (; first < end; first++) {
        const int64_t own = topology_time(part, start + first);
        uint16_t own_type = type;
        if (has_types_in_rows)
            memcpy(&own_type, topology_column(part, EDGE_TYPE, start + first), sizeof own_type);
        if (own_type == type && own > last &&
            (bank->config->history == HISTORY_TRAINING || own < time))
            last = own;
    }
    return last;
}

/* Returns when an edge at `time` has last seen its pair, or `never`. */
static int64_t last_seen(const struct bank *bank, uint32_t source, uint32_t target, uint16_t type,
                         int64_t time)
{
    const struct held_pair asked = {edge_pair_of(bank->config->splits->undirected, source, target),
                                    time, type};
    const int64_t held = last_held(bank, &asked);
    const int64_t trained = last_trained(bank, source, target, type, time);
    return held > trained ? held : trained;
}

/* --- a split --- */

/* Returns the time from the first to the last event of a split. */
static uint64_t duration_of(const struct edge_splits *splits, int split)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint64_t i = 0; i < splits->count[split]; i++) {
        const int64_t time = edge_time_at(splits->time[split], i);
        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    return last < first ? 0 : (uint64_t)last - (uint64_t)first;
}

static bool is_within(int64_t seen, int64_t time, uint64_t duration)
{
    return seen != never && (seen >= time || (uint64_t)time - (uint64_t)seen <= duration);
}

/* Scores edge `i` and its negatives, whose pairs begin at `at`. */
static void score_edge(const struct bank *bank, int split, uint32_t i, uint64_t duration, size_t at)
{
    const struct pair_request *request = bank->config->request[split];
    const uint16_t type = type_of(bank->config->splits, split, i);
    const int64_t time = edge_time_at(request->time, i);
    for (uint32_t k = 0; k < 1 + request->negatives; k++, at++) {
        uint32_t source = request->source[i], target = request->target[i];
        uint32_t *end = corrupts_source(request->corrupt, i) ? &source : &target;
        if (k > 0)
            *end = pair_drawer_negative(request, bank->config->topology->node_count, i, k - 1);
        const int64_t seen = last_seen(bank, source, target, type, time);
        bank->truth[at] = k == 0;
        bank->score[EDGE_BANK_UNLIMITED][at] = seen == never ? 0.0F : 1.0F;
        bank->score[EDGE_BANK_WINDOW][at] = is_within(seen, time, duration) ? 1.0F : 0.0F;
    }
}

static enum error_code measure_split(struct bank *bank, int split, struct edge_bank *out,
                                     struct error *err)
{
    const uint64_t count = bank->config->splits->count[split];
    const size_t each = 1 + (size_t)bank->config->request[split]->negatives;
    const uint64_t duration = duration_of(bank->config->splits, split);
    enum error_code rc = ERROR_NONE;
    must(bank->truth != NULL);
    for (uint32_t i = 0; i < count; i++)
        score_edge(bank, split, i, duration, i * each);
    for (int m = 0; rc == ERROR_NONE && count && m < EDGE_BANK_COUNT; m++)
        rc = metrics_column(bank->score[m], bank->truth, count * each, 1, &out->of[split][m], err);
    out->edges[split] = count;
    return rc;
}

/* Allocates room for the pairs of the larger split. Fails: ERROR_NO_MEMORY naming the bytes
 * wanted and the budget. */
static enum error_code new_scores(struct bank *bank, struct error *err)
{
    enum { PAIR_BYTES = 2 * sizeof(float) + 1, SORT_BYTES = 8 };
    static const char what[] = "the scores of EdgeBank";
    const struct edge_bank_config *config = bank->config;
    char want[32], have[32];
    size_t pairs = 0;
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        const size_t of_split =
            config->splits->count[s] * (1 + (size_t)config->request[s]->negatives);
        pairs = of_split > pairs ? of_split : pairs;
    }
    const uint64_t bytes =
        pairs * (PAIR_BYTES + SORT_BYTES) + bank->held_count * sizeof *bank->held;
    if (config->budget_bytes && bytes > config->budget_bytes)
        return error_set(err, ERROR_NO_MEMORY,
                         "%s want %s, the budget for them is %s; " ADVICE
                         "give more --memory, or set "
                         "sample.evaluation_negatives lower",
                         what, text_size(bytes, want), text_size(config->budget_bytes, have));
    enum error_code rc = memory_new(&bank->truth, pairs, what, err);
    for (int m = 0; rc == ERROR_NONE && m < EDGE_BANK_COUNT; m++)
        rc = memory_new(&bank->score[m], pairs, what, err);
    return rc;
}

enum error_code edge_bank_measure(const struct edge_bank_config *config, struct edge_bank *out,
                                  struct error *err)
{
    struct bank bank = {.config = config};
    *out = (struct edge_bank){.edges = {0}};
    enum error_code rc = list_held(&bank, err);
    if (rc == ERROR_NONE)
        rc = new_scores(&bank, err);
    for (int split = 0; rc == ERROR_NONE && split < HELD_OUT_COUNT; split++)
        rc = measure_split(&bank, split, out, err);
    for (int m = 0; m < EDGE_BANK_COUNT; m++)
        memory_free(bank.score[m]);
    memory_free(bank.truth);
    memory_free(bank.held);
    return rc;
}

void edge_bank_put_members(const struct edge_bank *bank, enum held_out split,
                           struct json_writer *json)
{
    const struct column_metrics *of = bank->of[split];
    if (!bank->edges[split])
        return;
    json_put_double(json, "edgebank_roc_auc", of[EDGE_BANK_UNLIMITED].roc_auc);
    json_put_double(json, "edgebank_average_precision", of[EDGE_BANK_UNLIMITED].average_precision);
    json_put_double(json, "edgebank_window_roc_auc", of[EDGE_BANK_WINDOW].roc_auc);
    json_put_double(json, "edgebank_window_average_precision",
                    of[EDGE_BANK_WINDOW].average_precision);
}
