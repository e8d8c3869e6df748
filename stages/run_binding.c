#include "stages/run_binding.h"

#include "common/base/checksum.h"
#include "common/math/blas.h"
#include "stages/core_type.h"

#include <stdio.h>
#include <string.h>

static const char newest_run_switch[] = "current/run/newest";

enum error_code run_input_switch(const struct pipeline_settings *settings, const char *what,
                                 struct key *out, struct error *err)
{
    char text[2 * SETTINGS_TEXT_SIZE], name[ID_SIZE], digits[CHECKSUM_TEXT_SIZE];
    enum error_code rc = pipeline_settings_text(settings, "ingest.", text, err);
    const size_t used = strlen(text);
    if (rc == ERROR_NONE && strcmp(what, "partition") == 0)
        rc = pipeline_settings_text(settings, "partition.", text + used, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t size = strlen(text);
    (void)snprintf(text + size, sizeof text - size, "seed = %lld\n", (long long)settings->seed);
    const struct checksum sum = checksum_of(text, strlen(text));
    checksum_text(&sum, digits);
    (void)snprintf(name, sizeof name, "%.63s-%.8s", settings->name, digits);
    *out = key_current(what, name);
    return ERROR_NONE;
}

void run_environment(bool portable, char text[41])
{
    const char *core = portable ? core_type_portable : blas_core_name();
    /* The version text goes on with build options: "OpenBLAS 0.3.21" is what matters here. */
#if defined(__clang__)
    (void)snprintf(text, 41, "%.12s %.15s clang-%d", core, blas_version(), __clang_major__);
#else
    (void)snprintf(text, 41, "%.12s %.15s gcc-%d", core, blas_version(), __GNUC__);
#endif
}

/* name-<8 hexadecimal digits of the hash of settings and partition>. */
static void make_run_id(const struct run_plan *plan, const char *name, char run_id[ID_SIZE])
{
    char text[sizeof plan->settings + ID_SIZE], digits[CHECKSUM_TEXT_SIZE];
    const int size = snprintf(text, sizeof text, "%s%s", plan->settings, plan->partition_id);
    const struct checksum sum = checksum_of(text, (size_t)size);
    checksum_text(&sum, digits);
    (void)snprintf(run_id, ID_SIZE, "%.63s-%.8s", name, digits);
}

/* A run that could not be opened is not started: as one on a dataset without training nodes. */
static enum error_code check_schedule(struct store *store, const struct pipeline_settings *settings,
                                      const char *partition_id, struct error *err)
{
    struct partition_book book = {0};
    struct schedule schedule;
    enum error_code rc = partition_book_get(store, partition_id, &book, err);
    if (rc == ERROR_NONE)
        rc = schedule_init(&schedule, settings, book.train_count, book.valid_count, book.part_count,
                           err);
    store_release_record(&book.view);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "partition %s", partition_id);
}

enum error_code run_start(struct store *store, const struct pipeline_settings *settings,
                          char run_id[ID_SIZE], struct error *err)
{
    struct run_plan plan = {0};
    struct key key;
    bool started = false;
    enum error_code rc = run_input_switch(settings, "partition", &key, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(store, key.text, plan.partition_id, sizeof plan.partition_id, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(
            err, ERROR_UNAVAILABLE,
            "no partition for pipeline %s yet: graphmill-ingest and graphmill-partition "
            "come first",
            settings->name);
    if (rc == ERROR_NONE)
        rc = pipeline_settings_text(settings, "", plan.settings, err);
    if (rc != ERROR_NONE)
        return rc;
    run_environment(settings->portable, plan.environment);
    make_run_id(&plan, settings->name, plan.id);
    rc = store_has(store, key_run(plan.id, "plan").text, &started, err);
    if (rc == ERROR_NONE && !started)
        rc = check_schedule(store, settings, plan.partition_id, err);
    if (rc == ERROR_NONE && !started)
        rc = run_plan_put(store, &plan, err);
    if (rc == ERROR_NONE)
        rc = store_switch_set(store, newest_run_switch, plan.id, err);
    memcpy(run_id, plan.id, sizeof plan.id);
    return rc;
}

enum error_code run_newest(struct store *store, char run_id[ID_SIZE], struct error *err)
{
    const enum error_code rc = store_switch_get(store, newest_run_switch, run_id, ID_SIZE, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "no run was started here");
    return rc;
}

enum error_code run_open(struct store *store, const char *run_id, struct run_binding *out,
                         struct error *err)
{
    enum error_code rc = run_plan_get(store, run_id, &out->plan, err);
    if (rc == ERROR_NONE)
        rc = pipeline_settings_parse(&out->settings, out->plan.settings, run_id, err);
    if (rc == ERROR_NONE)
        rc = partition_book_get(store, out->plan.partition_id, &out->book, err);
    if (rc == ERROR_NONE)
        rc = schedule_init(&out->schedule, &out->settings, out->book.train_count,
                           out->book.valid_count, out->book.part_count, err);
    if (rc != ERROR_NONE) {
        run_close(out);
        return error_context(err, rc, "run %s", run_id);
    }
    return ERROR_NONE;
}

enum error_code run_check_environment(const struct run_binding *run, struct error *err)
{
    char here[41] = "";
    run_environment(false, here);
    if (strcmp(here, run->plan.environment) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "run %s was started on '%s', this process is '%s': its bits would differ; run "
                     "on one kind of machine, or start the run with portable: true",
                     run->plan.id, run->plan.environment, here);
}

void run_close(struct run_binding *run)
{
    store_release_record(&run->book.view);
    *run = (struct run_binding){0};
}
