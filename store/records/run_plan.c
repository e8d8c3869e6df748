#include "store/records/run_plan.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <string.h>

enum { RUN_PLAN_FORMAT = 2 };

enum error_code run_plan_put(struct store *store, const struct run_plan *plan, struct error *err)
{
    struct record record = {.kind = RECORD_RUN_PLAN, .version = RUN_PLAN_FORMAT};
    record_add_text(&record, "settings", plan->settings);
    record_add_text(&record, "partition", plan->partition_id);
    record_add_text(&record, "environment", plan->environment);
    record_add(&record, "first", ELEMENT_I64, &plan->first_version, 1);
    record_add_text(&record, "origin", plan->origin);
    return store_put(store, key_run_plan(plan->id).text, plan->id, &record, STORE_DURABLE, err);
}

/* Keys are made of ids, so one with a '/' or a ".." in it would lead out of its place. */
static bool is_id(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    return text[0] && text[0] != '.' && strspn(text, allowed) == strlen(text);
}

static enum error_code get_origin(const struct record_view *view, struct run_plan *out,
                                  struct error *err)
{
    const void *first = NULL;
    enum error_code rc = record_section_get(view, "first", ELEMENT_I64, 1, &first, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(view, "origin", out->origin, sizeof out->origin, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&out->first_version, first, sizeof out->first_version);
    if (out->first_version < 0 || (out->first_version > 0) != is_id(out->origin) ||
        (out->first_version == 0 && out->origin[0]))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: starts from version %" PRId64
                         " of run '%s', expected version 0 and no run, or both",
                         view->key, out->first_version, out->origin);
    return ERROR_NONE;
}

static enum error_code get_texts(const struct record_view *view, struct run_plan *out,
                                 struct error *err)
{
    enum error_code rc =
        record_text_get(view, "settings", out->settings, sizeof out->settings, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(view, "partition", out->partition_id, sizeof out->partition_id, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(view, "environment", out->environment, sizeof out->environment, err);
    if (rc == ERROR_NONE && !is_id(out->partition_id))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: section partition is '%s', expected an id of [A-Za-z0-9._-]",
                       view->key, out->partition_id);
    if (rc == ERROR_NONE && !out->settings[0])
        rc = error_set(err, ERROR_CORRUPT, "record %s: section settings is empty", view->key);
    return rc;
}

enum error_code run_plan_decode(const struct record_view *view, struct run_plan *out,
                                struct error *err)
{
    *out = (struct run_plan){0};
    enum error_code rc = record_expect(view, RECORD_RUN_PLAN, RUN_PLAN_FORMAT, err);
    if (rc == ERROR_NONE)
        rc = get_texts(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_origin(view, out, err);
    if (rc != ERROR_NONE)
        *out = (struct run_plan){0};
    return rc;
}

enum error_code run_plan_get(struct store *store, const char *run_id, struct run_plan *out,
                             struct error *err)
{
    struct record_view view = {0};
    *out = (struct run_plan){0};
    if (!is_id(run_id) || strlen(run_id) >= sizeof out->id)
        return error_set(err, ERROR_INVALID, "'%s' is no id of a run", run_id);
    enum error_code rc = store_get(store, key_run_plan(run_id).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = run_plan_decode(&view, out, err);
    if (rc == ERROR_NONE)
        memcpy(out->id, run_id, strlen(run_id) + 1);
    store_release_record(&view);
    return rc;
}
