/* fuzz_gradient_range - ranges of gradients and sums from arbitrary sections; what a reader lets through is read to its end. */
#include "common/base/memory.h"
#include "store/records/round/gradient_range.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"version",     "range",         "value",       "sum",
                                    "counts",      "loss",          "statistics",  "value_bf16",
                                    "value_int8",  "value_scale",   "value_index", "value_kept",
                                    "value_count", "encoding_error"};
static volatile double touched;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct gradient_range range;
    fuzz_record_view(data, size, RECORD_GRADIENT_RANGE, names, sizeof names / sizeof *names, &view);
    if (gradient_range_decode(&view, &range, NULL) == ERROR_NONE) {
        must(range.first + range.count <= range.value_count);
        must(range.correct_count <= range.seed_count);
        for (uint64_t i = 0; i < range.count; i++)
            touched = range.sum ? range.sum[i] : (double)range.value[i];
        for (uint64_t i = 0; i < range.statistics_count; i++)
            touched = range.statistics[i];
        memory_free(range.decoded);
    }
    fuzz_record_view_release(&view);
    return 0;
}
