#include "stages/plan/run/run_binding.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/math/blas.h"
#include "stages/plan/model/embedding_shards.h"
#include "stages/plan/model/identity.h"
#include "stages/plan/model/run_loss.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/core_type.h"
#include "stages/plan/run/environment.h"
#include "stages/plan/run/run_adoption.h"
#include "stages/plan/run/run_recheck.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char newest_run_switch[] = "current/run/newest";

/* The settings that may change during the life of a run. */
static const unsigned wanted_parts = SETTING_OF_OUTPUTS | SETTING_OF_OPERATION;

static struct key wanted_switch(const char *run_id)
{
    return key_run(run_id, "wanted");
}

/* --- from settings to partition and run --- */

enum error_code run_input_switch(const struct pipeline_settings *settings, const char *what,
                                 struct key *out, struct error *err)
{
    const bool of_partition = strcmp(what, "partition") == 0;
    const unsigned parts = SETTING_OF_DATASET | (of_partition ? SETTING_OF_PARTITION : 0);
    char text[2 * SETTINGS_TEXT_SIZE], digits[IDENTITY_DIGITS_SIZE];
    enum error_code rc = pipeline_settings_identity(settings, parts, text, err);
    if (rc == ERROR_NONE)
        rc = pipeline_settings_sources(settings, parts, text + strlen(text), err);
    if (rc != ERROR_NONE)
        return rc;
    identity_digits(what, text, digits);
    *out = key_current(what, digits);
    return ERROR_NONE;
}

/* Finds the partition of `settings` and the id of the run that they make on it, and sets *started
 * to whether that run was started. */
static enum error_code find_run(struct store *store, const struct pipeline_settings *settings,
                                struct run_plan *plan, bool *started, struct error *err)
{
    struct key key;
    enum error_code rc = run_input_switch(settings, "partition", &key, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(store, key.text, plan->partition_id, sizeof plan->partition_id, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT) /* a start sets a damaged ref again */
        return error_set(err, ERROR_UNAVAILABLE,
                         "no partition for pipeline %s yet: graphmill-ingest and "
                         "graphmill-partition come first",
                         settings->name);
    if (rc == ERROR_NONE)
        rc = identity_run(store, settings, plan->partition_id, plan->id, err);
    return rc == ERROR_NONE ? store_has(store, key_run_plan(plan->id).text, started, err) : rc;
}

enum error_code run_id_of(struct store *store, const struct pipeline_settings *settings,
                          char run_id[ID_SIZE], struct error *err)
{
    struct run_plan plan = {0};
    bool started = false;
    const enum error_code rc = find_run(store, settings, &plan, &started, err);
    memcpy(run_id, plan.id, ID_SIZE);
    return rc;
}

enum error_code run_schedule(struct schedule *out, const struct pipeline_settings *settings,
                             const struct partition_book *book, struct error *err)
{
    struct embedding_tensors embeddings;
    enum error_code rc = embedding_tensors_of(settings, book, &embeddings, err);
    if (rc == ERROR_NONE)
        rc = schedule_init(out, settings, (int64_t)partition_book_train_count(book),
                           book->valid_count, book->part_count, err);
    if (rc != ERROR_NONE)
        return rc;
    out->embeddings = embeddings;
    out->embedding_shards = embeddings.shard_count;
    if (book->graph_count) /* the seeds are nodes of graphs */
        schedule_take_graphs(out, book->graph_nodes_most, book->node_count);
    return ERROR_NONE;
}

/* --- starting --- */

/* Computes the schedule of a run before it is started. A run whose schedule cannot be computed is
 * not started, for example on a dataset without training nodes. */
static enum error_code plan_schedule(struct store *store, const struct pipeline_settings *settings,
                                     const char *partition_id, struct schedule *schedule,
                                     struct error *err)
{
    struct partition_book book = {0};
    enum error_code rc = partition_book_get(store, partition_id, &book, err);
    if (rc == ERROR_NONE)
        rc = run_schedule(schedule, settings, &book, err);
    if (rc == ERROR_NONE)
        rc = run_loss_check(settings, &book, err);
    store_release_record(&book.view);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "partition %s", partition_id);
}

static enum error_code take_origin(const struct pipeline_settings *settings, struct run_plan *plan,
                                   struct error *err)
{
    struct run_origin origin;
    const enum error_code rc = run_origin_of(settings, &origin, err);
    if (rc != ERROR_NONE)
        return rc;
    plan->first_version = origin.version;
    (void)snprintf(plan->origin, sizeof plan->origin, "%s", origin.run_id);
    return ERROR_NONE;
}

static enum error_code make_plan(struct store *store, const struct pipeline_settings *settings,
                                 struct run_plan *plan, struct schedule *schedule,
                                 struct error *err)
{
    environment_text(settings->portable, run_core_type(settings), plan->environment);
    enum error_code rc = pipeline_settings_text(settings, plan->settings, err);
    if (rc == ERROR_NONE)
        rc = plan_schedule(store, settings, plan->partition_id, schedule, err);
    if (rc == ERROR_NONE && run_is_imported(settings))
        return take_origin(settings, plan, err);
    return rc == ERROR_NONE ? run_adoption_find(store, settings, schedule, plan, err) : rc;
}

enum error_code run_plan_of(struct store *store, const struct pipeline_settings *settings,
                            const char *partition_id, struct run_plan *plan, bool *started,
                            struct error *err)
{
    struct schedule schedule;
    (void)snprintf(plan->partition_id, sizeof plan->partition_id, "%s", partition_id);
    enum error_code rc = identity_run(store, settings, partition_id, plan->id, err);
    if (rc == ERROR_NONE)
        rc = store_has(store, key_run_plan(plan->id).text, started, err);
    return rc == ERROR_NONE && !*started ? make_plan(store, settings, plan, &schedule, err) : rc;
}

/* Takes over the sibling's snapshot. If that turns out to be damaged, the run only loses time: it
 * begins at its start. */
static enum error_code adopt(struct store *store, const struct pipeline_settings *settings,
                             const struct schedule *schedule, struct run_plan *plan,
                             struct error *err)
{
    const enum error_code rc = run_adoption_take(store, settings, schedule, plan, err);
    if (rc != ERROR_CORRUPT && rc != ERROR_NOT_FOUND)
        return rc;
    log_warn("snapshot %" PRId64 " of run %s cannot be continued: %s", plan->first_version,
             plan->origin, err->message);
    plan->first_version = 0;
    plan->origin[0] = '\0';
    return ERROR_NONE;
}

/* Checks that the weights that a run begins with are there before it starts. */
static enum error_code check_initial(struct store *store, const struct pipeline_settings *settings,
                                     const struct run_plan *plan, struct error *err)
{
    struct run_origin origin;
    bool found = false;
    if (!run_is_warm(settings))
        return ERROR_NONE;
    enum error_code rc = run_initial_of(settings, &origin, err);
    if (rc == ERROR_NONE)
        rc = store_has(store, key_initial_weights(plan->id).text, &found, err);
    if (rc != ERROR_NONE || found)
        return rc;
    return error_set(
        err, ERROR_NOT_FOUND,
        "%s: expected the weights of run %s, which train-step.initial names: graphmill "
        "run and graphmill start put them there",
        key_initial_weights(plan->id).text, origin.run_id);
}

static enum error_code write_plan(struct store *store, const struct pipeline_settings *settings,
                                  struct run_plan *plan, struct error *err)
{
    struct schedule schedule;
    enum error_code rc = make_plan(store, settings, plan, &schedule, err);
    if (rc == ERROR_NONE)
        rc = check_initial(store, settings, plan, err);
    if (rc == ERROR_NONE)
        rc = identity_note(store, plan->id, err);
    if (rc == ERROR_NONE && plan->first_version > 0 && !run_is_imported(settings))
        rc = adopt(store, settings, &schedule, plan, err);
    if (rc == ERROR_NONE && !run_is_imported(settings))
        rc = run_adoption_note(store, settings, plan, err);
    return rc == ERROR_NONE ? run_plan_put(store, plan, err) : rc;
}

/* Replaces line feeds, because a ref is one line; no value of these settings contains a
 * semicolon. */
static void replace_all(char *text, char from, char to)
{
    for (; *text; text++)
        if (*text == from)
            *text = to;
}

static enum error_code note_wanted(struct store *store, const struct pipeline_settings *settings,
                                   const char *run_id, struct error *err)
{
    char lines[SETTINGS_TEXT_SIZE];
    enum error_code rc = pipeline_settings_identity(settings, wanted_parts, lines, err);
    if (rc == ERROR_NONE)
        replace_all(lines, '\n', ';');
    /* The last writer may win: these settings change no record, and the newest start decides what
     * is wanted of the run. */
    return rc == ERROR_NONE ? store_switch_set(store, wanted_switch(run_id).text, lines, err) : rc;
}

enum error_code run_name_newest(struct store *store, const char *run_id, struct error *err)
{
    /* The last writer may win: the ref names the run that was started last. */
    return store_switch_set(store, newest_run_switch, run_id, err);
}

enum error_code run_start(struct store *store, const struct pipeline_settings *settings,
                          char run_id[ID_SIZE], struct error *err)
{
    const enum error_code rc = run_start_aside(store, settings, run_id, err);
    return rc == ERROR_NONE ? run_name_newest(store, run_id, err) : rc;
}

enum error_code run_start_aside(struct store *store, const struct pipeline_settings *settings,
                                char run_id[ID_SIZE], struct error *err)
{
    struct run_plan plan = {0};
    bool started = false;
    enum error_code rc = find_run(store, settings, &plan, &started, err);
    if (rc == ERROR_NONE && !started)
        rc = write_plan(store, settings, &plan, err);
    if (rc == ERROR_NONE)
        rc = note_wanted(store, settings, plan.id, err);
    if (rc == ERROR_NONE)
        rc = run_recheck(store, plan.id, err);
    memcpy(run_id, plan.id, sizeof plan.id);
    return rc;
}

struct run_search {
    char id[ID_SIZE]; /* of the first run found */
    int count;
};

static enum error_code note_plan(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    struct run_search *search = context;
    const char *id = key + strlen("run/");
    const size_t size = strcspn(id, "/");
    (void)err;
    if (is_artifact || strcmp(id + size, "/plan") != 0 || size >= sizeof search->id)
        return ERROR_NONE;
    if (search->count++ == 0) {
        memcpy(search->id, id, size);
        search->id[size] = '\0';
    }
    return ERROR_NONE;
}

/* Finds the newest run when the ref is lost. If there is only one run, that is the newest; of
 * several nothing says which. */
static enum error_code find_only_run(struct store *store, char run_id[ID_SIZE], struct error *err)
{
    struct run_search search = {0};
    const enum error_code rc = store_list(store, "run", note_plan, &search, err);
    if (rc != ERROR_NONE)
        return rc;
    if (search.count == 0)
        return error_set(err, ERROR_NOT_FOUND, "no run was started here");
    if (search.count > 1)
        return error_set(err, ERROR_NOT_FOUND,
                         "the ref %s is lost, and there are %d runs: " ADVICE
                         "name one with --run, such as %s; the next graphmill run sets it again",
                         newest_run_switch, search.count, search.id);
    memcpy(run_id, search.id, sizeof search.id);
    return ERROR_NONE;
}

enum error_code run_newest(struct store *store, char run_id[ID_SIZE], struct error *err)
{
    const enum error_code rc = store_switch_get(store, newest_run_switch, run_id, ID_SIZE, err);
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT ? find_only_run(store, run_id, err) : rc;
}

/* --- opening --- */

/* Applies the settings that are wanted now over those of the plan. */
static enum error_code apply_wanted(struct store *store, const char *run_id,
                                    struct pipeline_settings *settings, struct error *err)
{
    char lines[SETTINGS_TEXT_SIZE];
    const struct key key = wanted_switch(run_id);
    const enum error_code rc = store_switch_get(store, key.text, lines, sizeof lines, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    replace_all(lines, ';', '\n');
    pipeline_settings_reset(settings, wanted_parts);
    return pipeline_settings_apply(settings, lines, key.text, err);
}

static enum error_code read_settings(struct store *store, const struct run_plan *plan,
                                     struct pipeline_settings *settings, struct error *err)
{
    const enum error_code rc = pipeline_settings_parse(settings, plan->settings, plan->id, err);
    return rc == ERROR_NONE ? apply_wanted(store, plan->id, settings, err) : rc;
}

enum error_code run_open(struct store *store, const char *run_id, struct run_binding *out,
                         struct error *err)
{
    enum error_code rc = run_plan_get(store, run_id, &out->plan, err);
    if (rc == ERROR_NONE)
        rc = read_settings(store, &out->plan, &out->settings, err);
    if (rc == ERROR_NONE)
        rc = partition_book_get(store, out->plan.partition_id, &out->book, err);
    if (rc == ERROR_NONE)
        rc = run_schedule(&out->schedule, &out->settings, &out->book, err);
    if (rc != ERROR_NONE) {
        run_close(out);
        return error_context(err, rc, "run %s", run_id);
    }
    return ERROR_NONE;
}

void run_close(struct run_binding *run)
{
    store_release_record(&run->book.view);
    *run = (struct run_binding){0};
}

/* --- joining --- */

/* Adds to `err` how the newest run differs from `settings`. */
static enum error_code tell_newest(struct store *store, const struct pipeline_settings *settings,
                                   struct error *err)
{
    static const unsigned parts = SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING |
                                  SETTING_OF_TARGET | SETTING_OF_OUTPUTS;
    char newest[ID_SIZE], changes[SETTING_CHANGES_SIZE];
    struct run_plan plan;
    struct pipeline_settings *theirs = NULL; /* too large for a stack */
    const bool differs = run_newest(store, newest, NULL) == ERROR_NONE &&
                         run_plan_get(store, newest, &plan, NULL) == ERROR_NONE &&
                         memory_new(&theirs, 1, "settings", NULL) == ERROR_NONE &&
                         read_settings(store, &plan, theirs, NULL) == ERROR_NONE &&
                         pipeline_settings_changes(theirs, settings, parts, changes);
    memory_free(theirs);
    if (!differs)
        return ERROR_UNAVAILABLE;
    return error_add(err, ERROR_UNAVAILABLE, "; the newest run is %s, which differs in %s", newest,
                     changes);
}

/* Checks that these outputs are wanted of the run. Otherwise a worker would make other outputs than
 * its settings say. */
static enum error_code check_wanted(struct store *store, const struct pipeline_settings *settings,
                                    const char *run_id, struct error *err)
{
    struct run_plan plan;
    struct pipeline_settings *theirs = NULL; /* too large for a stack */
    char changes[SETTING_CHANGES_SIZE];
    enum error_code rc = memory_new(&theirs, 1, "settings", err);
    if (rc == ERROR_NONE)
        rc = run_plan_get(store, run_id, &plan, err);
    if (rc == ERROR_NONE)
        rc = read_settings(store, &plan, theirs, err);
    const bool same = rc == ERROR_NONE &&
                      !pipeline_settings_changes(theirs, settings, SETTING_OF_OUTPUTS, changes);
    memory_free(theirs);
    if (rc != ERROR_NONE || same)
        return rc;
    return error_set(err, ERROR_UNAVAILABLE, "run %s was not started with these outputs: %s",
                     run_id, changes);
}

enum error_code run_join(struct store *store, const struct pipeline_settings *settings,
                         char run_id[ID_SIZE], struct error *err)
{
    struct run_plan plan = {0};
    bool started = false;
    enum error_code rc = find_run(store, settings, &plan, &started, err);
    if (rc == ERROR_NONE && !started)
        rc = error_set(err, ERROR_UNAVAILABLE, "no run of these settings was started here");
    if (rc == ERROR_UNAVAILABLE)
        return tell_newest(store, settings, err);
    if (rc == ERROR_NONE)
        rc = check_wanted(store, settings, plan.id, err);
    memcpy(run_id, plan.id, sizeof plan.id);
    return rc;
}

/* --- environment --- */

const char *run_core_type(const struct pipeline_settings *settings)
{
    return settings->portable ? core_type_portable : blas_core_name();
}

enum error_code run_check_environment(const struct run_binding *run, const char *core,
                                      struct error *err)
{
    char here[ENVIRONMENT_TEXT_SIZE], difference[ENVIRONMENT_DIFFERENCE_SIZE];
    environment_text(run->settings.portable, core, here);
    if (!environment_difference(run->plan.environment, here, difference))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "run %s was started with %s: its bits would differ. " ADVICE
                     "Finish it where it was "
                     "started, or start a new run: in another folder, or with portable: true for "
                     "machines that differ in OpenBLAS's core type or instructions alone",
                     run->plan.id, difference);
}
