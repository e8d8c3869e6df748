/* fuzz_snapshot - a snapshot, or a run plan, from arbitrary sections. The first byte says which. */
#include "store/records/round/run_plan.h"
#include "store/records/round/snapshot.h"

#include "tests/fuzz/fuzz_record_view.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"cursor",    "metric",      "value",      "first",  "second",
                                    "step",      "table",       "best_value", "log",    "settings",
                                    "partition", "environment", "progress",   "rounds", "origin"};

static void read_snapshot(const struct record_view *view)
{
    struct snapshot s;
    if (snapshot_decode(view, &s, NULL) != ERROR_NONE)
        return;
    must(s.previous_version < s.version && s.best_version <= s.version);
    for (uint64_t i = 0; i < s.value_count; i++)
        must(isfinite(s.value[i]) && isfinite(s.first[i]) && isfinite(s.best_value[i]) &&
             (!s.second || isfinite(s.second[i])));
    for (uint64_t i = 0; i < s.round_count * PROGRESS_COUNT; i++)
        must(isfinite(s.rounds[i]));
    must(s.log_size == 0 || s.log[s.log_size - 1] == '\n');
}

static void read_run_plan(const struct record_view *view)
{
    struct run_plan plan;
    if (run_plan_decode(view, &plan, NULL) != ERROR_NONE)
        return;
    must(plan.partition_id[0] && !strchr(plan.partition_id, '/'));
    must(plan.settings[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    if (size == 0)
        return 0;
    const bool is_plan = data[0] % 2;
    fuzz_record_view(data + 1, size - 1, is_plan ? RECORD_RUN_PLAN : RECORD_SNAPSHOT, names,
                     sizeof names / sizeof *names, &view);
    view.version = 2;
    if (is_plan)
        read_run_plan(&view);
    else
        read_snapshot(&view);
    fuzz_record_view_release(&view);
    return 0;
}
