#include "stages/infer/outputs/event_results.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"

#include <string.h>

static bool is_earlier(const void *context, uint64_t a, uint64_t b)
{
    const struct edge_times *time = context;
    return edge_time_at(*time, a) < edge_time_at(*time, b);
}

static enum error_code put_in_order(struct event_results *results, struct error *err)
{
    const uint64_t count = results->form.count;
    uint64_t *scratch = NULL;
    const enum error_code rc = memory_new(&scratch, count, "the order of events", err);
    for (uint64_t i = 0; i < count; i++)
        results->order[i] = i;
    if (rc == ERROR_NONE)
        key_sort_by(results->order, scratch, count, is_earlier, &results->form.time);
    memory_free(scratch);
    return rc;
}

enum error_code event_results_begin(struct event_results *results,
                                    const struct event_results_form *form, struct error *err)
{
    static const char what[] = "the scores of events";
    event_results_release(results);
    results->form = *form;
    enum error_code rc = memory_new(&results->order, form->count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&results->score, form->count * form->outputs, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&results->negative, form->count * form->negatives, what, err);
    for (int end = 0; rc == ERROR_NONE && end < 2; end++)
        rc = memory_new(&results->rank[end], form->count, "the ranks of events", err);
    return rc == ERROR_NONE ? put_in_order(results, err) : rc;
}

void event_results_release(struct event_results *results)
{
    memory_free(results->order);
    memory_free(results->score);
    memory_free(results->negative);
    for (int end = 0; end < 2; end++)
        memory_free(results->rank[end]);
    *results = (struct event_results){.order = NULL};
}

uint64_t event_results_at(const struct event_results *results, uint64_t k)
{
    return results->order[k];
}

void event_results_keep(struct event_results *results, uint64_t event, const float *score,
                        struct link_rank *const rank[2])
{
    const size_t outputs = results->form.outputs, negatives = results->form.negatives;
    memcpy(results->score + event * outputs, score, outputs * sizeof *score);
    memcpy(results->negative + event * negatives, score + outputs, negatives * sizeof *score);
    for (int end = 0; end < 2; end++) {
        results->has_rank[end] = rank[end] != NULL;
        if (rank[end])
            results->rank[end][event] = *rank[end];
    }
}

void event_results_take(const struct event_results *results, uint64_t first, uint32_t count,
                        float *score, struct link_rank *rank[2])
{
    const size_t outputs = results->form.outputs, negatives = results->form.negatives;
    memcpy(score, results->score + first * outputs, count * outputs * sizeof *score);
    memcpy(score + count * outputs, results->negative + first * negatives,
           count * negatives * sizeof *score);
    for (int end = 0; end < 2; end++)
        rank[end] = results->has_rank[end] ? results->rank[end] + first : NULL;
}
