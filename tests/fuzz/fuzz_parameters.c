/* fuzz_parameters - weights, optimizer state, gradient and evaluation from arbitrary sections. The first
 * byte says which; what a reader lets through is then read to its end. */
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"

#include "tests/fuzz/fuzz_record_view.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "version",    "value",       "table",        "progress",     "step",        "first",
    "second",     "counts",      "loss",         "confusion",    "score",       "truth",
    "rounds",     "row_node",    "row_gradient", "tally",        "row_group",   "value_bf16",
    "value_int8", "value_scale", "value_index",  "value_kept",   "value_count", "encoding_error",
    "row_bf16",   "row_int8",    "row_scale",    "values_beside"};

/* Values of which nothing is asked are read into here, so that the sanitizer sees them read. */
static volatile float touched;

static void read_weights(const struct record_view *view)
{
    struct weights w;
    if (weights_decode(view, &w, NULL) != ERROR_NONE)
        return;
    for (uint64_t i = 0; i < w.value_count; i++)
        must(isfinite(w.value[i]));
    for (uint64_t i = 0; i < w.table_size; i++)
        must(w.table[i] != '\0');
}

static void read_optimizer_state(const struct record_view *view)
{
    struct optimizer_state s;
    if (optimizer_state_decode(view, &s, NULL) != ERROR_NONE)
        return;
    for (uint64_t i = 0; i < s.value_count; i++)
        must(isfinite(s.first[i]) && (!s.second || isfinite(s.second[i])));
    for (uint64_t i = 0; i < s.round_count * PROGRESS_COUNT; i++)
        must(isfinite(s.rounds[i]));
}

static void read_gradient(const struct record_view *view)
{
    struct gradient g;
    if (gradient_decode(view, &g, NULL) != ERROR_NONE)
        return;
    must(g.correct_count <= g.seed_count);
    for (uint64_t i = 0; g.value && i < g.value_count; i++)
        touched = g.value[i];
    for (int k = 0; k < g.group_count; k++) {
        const struct gradient_rows *rows = &g.group[k];
        must(rows->count > 0 && rows->width > 0);
        must(k == 0 || rows->type > rows[-1].type);
        for (uint64_t i = 1; i < rows->count; i++)
            must(rows->node[i] > rows->node[i - 1]);
        for (uint64_t i = 0; i < rows->count * rows->width; i++)
            touched = rows->gradient[i];
    }
    gradient_release(&g);
}

static void read_evaluation(const struct record_view *view)
{
    struct evaluation e;
    if (evaluation_decode(view, &e, NULL) != ERROR_NONE)
        return;
    for (uint64_t i = 0; i < e.tally_size; i++)
        touched = (float)e.tally[i];
    for (uint64_t i = 0; i < e.score_count; i++)
        must(e.truth[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum record_kind kinds[] = {RECORD_WEIGHTS, RECORD_OPTIMIZER_STATE,
                                             RECORD_GRADIENT, RECORD_EVALUATION};
    static void (*const readers[])(const struct record_view *) = {
        read_weights, read_optimizer_state, read_gradient, read_evaluation};
    struct record_view view;
    if (size == 0)
        return 0;
    const size_t which = data[0] % 4;
    fuzz_record_view(data + 1, size - 1, kinds[which], names, sizeof names / sizeof *names, &view);
    view.version = 3;
    readers[which](&view);
    fuzz_record_view_release(&view);
    return 0;
}
