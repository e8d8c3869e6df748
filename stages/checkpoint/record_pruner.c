#include "stages/checkpoint/record_pruner.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"

#include <string.h>

/* --- one series: the records with one index among the keys of a kind's units --- */

struct series {
    enum unit_kind kind;
    int record; /* index in unit_keys() */
};

static struct key key_at(const struct stage_context *context, const struct series *series,
                         int64_t number, int32_t slot)
{
    struct key keys[UNIT_KEYS_MAX];
    const struct unit unit = unit_at(context->schedule, series->kind, number, slot);
    const int count = unit_keys(context->schedule, context->run_id, &unit, keys);
    must(series->record < count);
    return keys[series->record];
}

static enum error_code remove_slots(const struct stage_context *context,
                                    const struct series *series, int64_t number, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = unit_count_at(context->schedule, series->kind, number) - 1;
         slot >= 0 && rc == ERROR_NONE; slot--)
        rc = store_remove(context->store, key_at(context, series, number, slot).text, err);
    return rc;
}

static enum error_code prune(const struct stage_context *context, const struct series *series,
                             int64_t limit, struct error *err)
{
    const struct schedule *schedule = context->schedule;
    enum error_code rc = ERROR_NONE;
    int64_t oldest = limit;
    for (int64_t number = unit_number_before(schedule, series->kind, limit);
         number >= 0 && unit_count_at(schedule, series->kind, number) > 0;
         number = unit_number_before(schedule, series->kind, number)) {
        bool found = false;
        rc = store_has(context->store, key_at(context, series, number, 0).text, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        oldest = number;
    }
    for (int64_t number = oldest; number < limit && rc == ERROR_NONE;
         number = unit_number_after(schedule, series->kind, number))
        rc = remove_slots(context, series, number, err);
    return rc;
}

/* --- what is kept as long as snapshots: few records, so they are listed --- */

struct snapshot_search {
    size_t folder_size; /* bytes of a key before its version */
    const struct retention *retention;
    int64_t *superfluous; /* [count] versions */
    size_t count, capacity;
};

static enum error_code add_superfluous(struct snapshot_search *search, int64_t version,
                                       struct error *err)
{
    const enum error_code rc = memory_grow(&search->superfluous, &search->capacity,
                                           search->count + 1, "a list of snapshots", err);
    if (rc == ERROR_NONE)
        search->superfluous[search->count++] = version;
    return rc;
}

static enum error_code visit_snapshot(void *context, const char *key, bool is_artifact,
                                      struct error *err)
{
    struct snapshot_search *search = context;
    const char *name = key + search->folder_size + 1;
    int64_t version = 0;
    if (is_artifact || !text_int64(name, strcspn(name, "/"), &version) ||
        retention_rule_keeps_snapshot(search->retention, version) ||
        (search->count && search->superfluous[search->count - 1] == version))
        return ERROR_NONE;
    return add_superfluous(search, version, err);
}

static enum error_code prune_snapshots(const struct stage_context *context, enum unit_kind kind,
                                       const struct retention *retention, struct error *err)
{
    struct snapshot_search search = {.retention = retention};
    struct series series = {.kind = kind};
    struct key folder = key_at(context, &series, 0, 0);
    const size_t run_size = strlen(key_run(context->run_id, "").text);
    *strstr(folder.text + run_size, "/0000000000") = '\0';
    search.folder_size = strlen(folder.text);
    enum error_code rc = store_list(context->store, folder.text, visit_snapshot, &search, err);
    for (size_t i = 0; i < search.count && rc == ERROR_NONE; i++)
        rc = remove_slots(context, &series, search.superfluous[i], err);
    memory_free(search.superfluous);
    return rc;
}

/* --- all --- */

/* Returns whether this is the key of a companion, which is kept longer than its record. */
static bool is_companion(const struct stage_context *context, const struct unit_row *row,
                         const struct unit *unit, const struct key *key)
{
    return row->companion_oldest &&
           strcmp(row->companion(context->schedule, context->run_id, unit).text, key->text) == 0;
}

static enum error_code prune_kind(const struct stage_context *context, enum unit_kind kind,
                                  const struct retention *retention, struct error *err)
{
    const struct unit_row *row = unit_row_of(kind);
    if (row->line == LINE_NONE || row->retention == RETAINED_TO_THE_END)
        return ERROR_NONE;
    if (row->retention == RETAINED_SNAPSHOTS)
        return prune_snapshots(context, kind, retention, err);
    const int64_t limit = row->retention == RETAINED_PASSES  ? retention->oldest_mini_batch
                          : row->retention == RETAINED_BASES ? retention->oldest_base
                                                             : retention->oldest_version;
    struct key keys[UNIT_KEYS_MAX];
    const struct unit any = unit_at(context->schedule, kind, limit, 0);
    const int count = unit_keys(context->schedule, context->run_id, &any, keys);
    enum error_code rc = ERROR_NONE;
    for (int record = 0; record < count && rc == ERROR_NONE; record++) {
        const int64_t oldest = is_companion(context, row, &any, &keys[record])
                                   ? row->companion_oldest(context->schedule, limit)
                                   : limit;
        rc = prune(context, &(struct series){kind, record}, oldest, err);
    }
    return rc;
}

enum error_code record_pruner_run(const struct stage_context *context,
                                  const struct retention *retention, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (enum unit_kind kind = UNIT_KIND_COUNT - 1; kind > UNIT_UNKNOWN && rc == ERROR_NONE; kind--)
        rc = prune_kind(context, kind, retention, err);
    return rc;
}
