#include "store/records/round/run_plan.h"

#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <string.h>

static enum error_code check_plan(const struct record_view *view, void *out, struct error *err)
{
    const struct run_plan *plan = out;
    if (!plan->settings[0])
        return error_set(err, ERROR_CORRUPT, "record %s: section settings is empty", view->key);
    if (plan->first_version >= 0 &&
        (plan->first_version ? section_text_is_id(plan->origin) : !plan->origin[0]))
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: starts from version %" PRId64
                     " of run '%s', expected version 0 and no run, or both",
                     view->key, plan->first_version, plan->origin);
}

#define SECTION_STRUCT struct run_plan
static const struct section_row rows[] = {
    {SECTION_TEXT("settings", settings)},
    {SECTION_TEXT("partition", partition_id), .checks = SECTION_ID},
    {SECTION_TEXT("environment", environment)},
    {SECTION_VALUE("first", I64, first_version)},
    {SECTION_TEXT("origin", origin), .read = check_plan},
};
static const struct section_table table = SECTION_TABLE_OF_COPIES(RECORD_RUN_PLAN, 2, 2, rows);

enum error_code run_plan_put(struct store *store, const struct run_plan *plan, struct error *err)
{
    return section_table_put(store, &table, key_run_plan(plan->id).text, plan->id, plan,
                             STORE_DURABLE, err);
}

enum error_code run_plan_decode(const struct record_view *view, struct run_plan *out,
                                struct error *err)
{
    return section_table_keep(&table, section_table_decode(&table, view, out, err), out);
}

enum error_code run_plan_get(struct store *store, const char *run_id, struct run_plan *out,
                             struct error *err)
{
    memset(out, 0, sizeof *out);
    if (!section_text_is_id(run_id) || strlen(run_id) >= sizeof out->id)
        return error_set(err, ERROR_INVALID, "'%s' is no id of a run", run_id);
    const enum error_code rc =
        section_table_get(store, &table, key_run_plan(run_id).text, run_id, out, err);
    if (rc == ERROR_NONE)
        memcpy(out->id, run_id, strlen(run_id) + 1);
    return rc;
}
