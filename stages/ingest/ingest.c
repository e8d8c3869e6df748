/*
 * graphmill-ingest - turns the user's files, or the output of a generator, into the records of one
 * dataset.
 *
 *   files --> a reader of formats/shared/input_format.h --+
 *                                                 +--> dataset_builder --> dataset/<id>/...
 *   seed  --> generator --------------------------+        current/dataset/<settings> = <id>
 *                                                                        |
 *   files of an update (--add-edges, ...) --> update/ --> a version of it <--+
 *
 * The id is a checksum of everything that the records depend on, so a dataset that exists is not
 * made again. The schema is stored last, and the ref is set after it: a reader sees a whole dataset
 * or none, and a process that is killed in between starts again. A dataset that was updated is
 * represented by its newest version (update/dataset_versions.h).
 */
#include "stages/ingest/ingest.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "stages/engine/stage.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/dataset_summary.h"
#include "stages/ingest/build/memory_held.h"
#include "stages/ingest/formats/columns/node_files.h"
#include "stages/ingest/formats/folders/unread_files.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/ingest/formats/shared/mending.h"
#include "stages/ingest/remote_input.h"
#include "stages/ingest/update/dataset_versions.h"
#include "stages/ingest/update/version_chain.h"
#include "stages/plan/model/identity.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/format_detect.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ATTEMPTS = 100 };

static enum error_code add_settings(const struct pipeline_settings *settings,
                                    struct checksum_stream *sum, struct error *err)
{
    char text[SETTINGS_TEXT_SIZE];
    struct pipeline_settings *normal = NULL; /* too large for the stack of a 32-bit system */
    enum error_code rc = memory_new(&normal, 1, "settings", err);
    if (rc != ERROR_NONE)
        return rc;
    pipeline_settings_defaults(normal);
    const int64_t seed = normal->seed; /* hashed separately, and only if the records depend on it */
    *normal = *settings;
    normal->seed = seed;
    rc = pipeline_settings_identity(normal, SETTING_OF_DATASET, text, err);
    if (rc == ERROR_NONE)
        checksum_stream_add(sum, text, strlen(text) + 1);
    memory_free(normal);
    return rc;
}

/* Returns whether the records depend on the seed. */
static bool uses_seed(const struct pipeline_settings *settings, bool has_features)
{
    const int64_t features = settings->ingest.features.choice;
    struct edge_split edges;
    if (dataset_format_has(settings, FORMAT_IS_GENERATED) ||
        strcmp(settings->ingest.split, "given") != 0)
        return true;
    if (task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES) &&
        (pipeline_edge_split(settings, &edges, NULL) != ERROR_NONE ||
         edges.kind == EDGE_SPLIT_RANDOM || edges.kind == EDGE_SPLIT_LEAVE_ONE_OUT))
        return true;
    if (features == FEATURES_AUTO && settings->ingest.relations)
        return settings->ingest.missing_features == MISSING_RANDOM ||
               settings->ingest.missing_features == MISSING_DEGREE_RANDOM;
    if (features == FEATURES_AUTO)
        return !has_features;
    return features == FEATURES_RANDOM || features == FEATURES_DEGREE_RANDOM;
}

static enum error_code add_input(const struct pipeline_settings *settings,
                                 const struct file_notes *notes, struct checksum_stream *sum,
                                 struct error *err)
{
    bool has_features = false;
    enum error_code rc = add_settings(settings, sum, err);
    if (rc == ERROR_NONE)
        rc = input_files_sum(settings, notes, sum, &has_features, err);
    if (rc == ERROR_NONE && uses_seed(settings, has_features))
        checksum_stream_add(sum, &settings->seed, sizeof settings->seed);
    return rc;
}

enum error_code ingest_dataset_id(struct store *store, const struct pipeline_settings *settings,
                                  bool may_note, char id[ID_SIZE], struct error *err)
{
    const struct file_notes notes = {store, may_note, FILE_NOTE_SETTLED_MS};
    struct checksum_stream *sum = NULL;
    char text[CHECKSUM_TEXT_SIZE], digits[IDENTITY_DIGITS_SIZE], seen[FORMAT_SEEN_SIZE];
    struct pipeline_settings *own = NULL;
    if (!dataset_format_has(settings, FORMAT_IS_GENERATED) && !settings->ingest.path[0])
        return error_set(err, ERROR_INVALID,
                         "ingest.path: expected a file or folder, found nothing");
    enum error_code rc = format_settle(settings, &own, seen, err);
    if (rc == ERROR_NONE)
        rc = checksum_stream_new(&sum, err);
    if (rc == ERROR_NONE)
        rc = add_input(own, &notes, sum, err);
    if (rc == ERROR_NONE) {
        const struct checksum content = checksum_stream_sum(sum);
        checksum_text(&content, text);
        identity_digits("dataset", text, digits);
        rc = identity_find(store, digits, settings->name, id, err);
    }
    checksum_stream_free(sum);
    memory_free(own);
    return rc;
}

/* Returns the advice for missing labels or training nodes. For an input with files beside it their
 * presence is checked beforehand, so here the advice is about their content. */
static const struct training_advice *advice_for(const struct pipeline_settings *settings)
{
    static const struct training_advice of_graphs = {ADVICE_GRAPHS};
    return task_has(settings->ingest.task, TASK_HAS_GRAPHS) ? &of_graphs
                                                            : &input_format_of(settings)->advice;
}

struct remarks {
    bool are_said; /* not in a replay */
    int warnings;
};

/* Writes how much is done, how fast, and how long the rest will take, by what was done since
 * `began_ms`. */
static void progress_text(const char *what, uint64_t done, uint64_t total, double seconds,
                          char *text, size_t size)
{
    const char *base = strrchr(what, '/');
    const double rate = seconds > 0.0 ? (double)done / seconds : 0.0;
    const bool are_bytes = strchr(what, '.') != NULL; /* `what` is a file */
    char count[32], each[32];
    (void)(are_bytes ? text_size((uint64_t)rate, each) : text_count((int64_t)rate, each));
    base = base ? base + 1 : what;
    if (total && rate > 0.0)
        (void)snprintf(text, size, "%s: %.0f %%, %s%s, %.0f s left", base,
                       100.0 * (double)done / (double)total, each, are_bytes ? "/s" : " a second",
                       (double)(total - (done < total ? done : total)) / rate);
    else if (total)
        (void)snprintf(text, size, "%s: %.0f %%", base, 100.0 * (double)done / (double)total);
    else
        (void)snprintf(text, size, "%s: %s, %s a second", base, text_count((int64_t)done, count),
                       each);
}

/* Logs a line every second, and after some of them every few seconds. */
static void say_progress(const char *what, uint64_t done, uint64_t total)
{
    enum { SOON_MS = 1000, LATER_MS = 5000, SOON_COUNT = 10, WHAT_SIZE = 256 };
    static int64_t began_ms, last_ms;
    static int said;
    static char current[WHAT_SIZE];
    char text[WHAT_SIZE + 64];
    const int64_t now = clock_ms();
    if (strncmp(current, what, sizeof current - 1) != 0) {
        (void)snprintf(current, sizeof current, "%s", what);
        began_ms = now;
    }
    if (last_ms == 0)
        last_ms = now;
    if (now - last_ms < (said < SOON_COUNT ? SOON_MS : LATER_MS))
        return;
    last_ms = now;
    said++;
    progress_text(what, done, total, (double)(now - began_ms) / 1000.0, text, sizeof text);
    log_progress("%s", text);
}

static void say_line(void *context, bool is_warning, const char *line)
{
    struct remarks *remarks = context;
    remarks->warnings += is_warning;
    if (!remarks->are_said)
        return;
    if (is_warning)
        log_warn("%s", line);
    else
        log_info("%s", line);
}

static void say_notes(const struct dataset_notes *notes, struct remarks *remarks)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->note[i].kind == NOTE_WARNING)
            say_line(remarks, true, notes->note[i].text);
        else if (remarks->are_said)
            log_input("%s", notes->note[i].text);
}

static void say_unread(void *context, const char *name, const char *meant)
{
    char line[SUMMARY_LINE_SIZE];
    if (meant)
        (void)snprintf(line, sizeof line, "%s was not read; did you mean %s?", name, meant);
    else
        (void)snprintf(line, sizeof line, "%s was not read: this format has no file of that name",
                       name);
    say_line(context, meant != NULL, line);
}

/* Reads or generates the dataset and stores it. */
/* Refuses too small a budget before the work begins. */
static enum error_code check_budget(const struct stage_context *context, struct error *err)
{
    const uint64_t least = MEMORY_HELD_LEAST;
    char have[32], want[32];
    return context->memory_bytes >= least
               ? ERROR_NONE
               : error_set(err, ERROR_NO_MEMORY,
                           "the memory budget is %s: expected at least %s, of which the program "
                           "itself takes most: " ADVICE "give more --memory",
                           text_size(context->memory_bytes, have), text_size(least, want));
}

static enum error_code make_dataset(const struct stage_context *context, const char *id,
                                    struct remarks *remarks, struct dataset_schema *schema,
                                    struct error *err)
{
    const struct input_format *format = input_format_of(context->settings);
    struct dataset_summary summary = {0};
    struct dataset_builder *builder = NULL;
    const struct dataset_builder_config config = {.store = context->store,
                                                  .settings = context->settings,
                                                  .dataset_id = id,
                                                  .name = context->settings->name,
                                                  .advice = advice_for(context->settings),
                                                  .summary = &summary,
                                                  .memory_bytes = context->memory_bytes,
                                                  .counts_process = true,
                                                  .pool = context->pool};
    enum error_code rc = check_budget(context, err);
    if (rc == ERROR_NONE)
        rc = unread_files_visit(context->settings, say_unread, remarks, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_new(&config, &builder, err);
    if (rc == ERROR_NONE)
        rc = format->run(context->settings, context->memory_bytes, builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_finish(builder, schema, err);
    rc = mending_add(format->form, rc, err);
    if (rc == ERROR_NONE)
        say_notes(&summary.notes, remarks);
    if (rc == ERROR_NONE)
        dataset_summary_lines(&summary, schema, context->settings, say_line, remarks);
    dataset_summary_release(&summary);
    dataset_builder_free(builder);
    return rc;
}

static void print_summary(const struct dataset_schema *schema, bool unchanged, int warnings)
{
    char types[64] = "";
    if (schema->has_relations)
        (void)snprintf(types, sizeof types, " types=%" PRIu32 " relations=%" PRIu32,
                       schema->node_type_count, schema->edge_type_count);
    (void)printf("%sdataset=%s nodes=%" PRIu32 " edges=%" PRIu64 "%s features=%" PRIu32
                 " classes=%" PRIu32 " train=%" PRIu64 " valid=%" PRIu32 " test=%" PRIu32
                 " direction=%s warnings=%d\n",
                 unchanged ? "unchanged " : "", schema->id, schema->node_count, schema->edge_count,
                 types, schema->feature_dim, schema->class_count,
                 task_has(schema->task, TASK_HOLDS_OUT_EDGES) ? dataset_pair_count(schema)
                                                              : schema->train_count,
                 schema->valid_count, schema->test_count,
                 schema->undirected ? "undirected" : "directed", warnings);
}

/* Makes the dataset of the user's files, unless it exists. */
static enum error_code have_root(const struct stage_context *context, const char *id,
                                 struct remarks *remarks, bool *found,
                                 struct dataset_schema *schema, struct error *err)
{
    const enum error_code rc =
        store_has(context->store, key_dataset(id, "schema").text, found, err);
    return rc == ERROR_NONE && (!*found || context->is_replay)
               ? make_dataset(context, id, remarks, schema, err)
               : rc;
}

/* Finds the newest version. If the store leaves two candidates, the files of an update may
 * decide. */
static enum error_code find_newest(const struct stage_context *context,
                                   const struct version_place *place, char id[ID_SIZE],
                                   struct error *err)
{
    bool settled = false;
    const enum error_code rc = version_chain_newest(place, id, err);
    if (rc != ERROR_CORRUPT || !context->update ||
        dataset_versions_settle(place, context->update, &settled, NULL) != ERROR_NONE || !settled)
        return rc;
    return version_chain_newest(place, id, err);
}

/* Makes the lost records of the version `id` again, and those of the root if it is needed. */
static enum error_code have_chain(const struct stage_context *context,
                                  const struct version_place *place, const char *id,
                                  struct remarks *remarks, bool *found,
                                  struct dataset_schema *schema, struct error *err)
{
    bool needs_root = false, had_root = false;
    enum error_code rc = dataset_versions_has(place, id, found, err);
    if (rc == ERROR_NONE)
        rc = dataset_versions_restore(place, id, context->is_replay, &needs_root, err);
    if (rc != ERROR_NONE || !needs_root)
        return rc;
    rc = have_root(context, place->root, remarks, &had_root, schema, err);
    return rc == ERROR_NONE
               ? dataset_versions_restore(place, id, context->is_replay, &needs_root, err)
               : rc;
}

/* Makes a lost delta that the version needs again. *repaired: the files of the update were those of
 * the lost delta, and it is stored again. The root must exist, because the files are read as an
 * update of it. */
static enum error_code repair(const struct stage_context *context,
                              const struct version_place *place, const char *id,
                              struct remarks *remarks, bool *repaired,
                              struct dataset_schema *schema, struct error *err)
{
    bool had_root = false;
    const enum error_code rc = have_root(context, place->root, remarks, &had_root, schema, err);
    return rc == ERROR_NONE ? dataset_versions_repair(place, context->update, id, repaired, err)
                            : rc;
}

/* Finds or makes the newest version of the dataset `id`, and sets `id` to it; *found: there was
 * nothing to do. */
static enum error_code have_version(const struct stage_context *context, char id[ID_SIZE],
                                    struct remarks *remarks, bool *found,
                                    struct dataset_schema *schema, struct error *err)
{
    char root[ID_SIZE];
    (void)memcpy(root, id, sizeof root);
    const struct version_place place = {.store = context->store,
                                        .settings = context->settings,
                                        .memory_bytes = context->memory_bytes,
                                        .root = root};
    bool repaired = false;
    enum error_code rc = find_newest(context, &place, id, err);
    const bool is_root = rc == ERROR_NONE && strcmp(id, root) == 0;
    if (rc == ERROR_NONE && is_root)
        rc = have_root(context, root, remarks, found, schema, err);
    else if (rc == ERROR_NONE)
        rc = have_chain(context, &place, id, remarks, found, schema, err);
    if (rc == ERROR_CORRUPT && context->update && !is_root) {
        const enum error_code tried = repair(context, &place, id, remarks, &repaired, schema, NULL);
        if (tried == ERROR_NONE && repaired)
            rc = have_chain(context, &place, id, remarks, found, schema, err);
    }
    if (rc == ERROR_NONE && !is_root && !context->is_replay)
        rc = version_chain_mend(&place, id, err);
    *found = *found || repaired;
    if (rc != ERROR_NONE || !context->update || repaired)
        return rc;
    rc = dataset_versions_update(&place, context->update, id, found, err);
    if (rc == ERROR_INPUT)
        (void)printf("%s\n", UPDATE_REFUSED);
    return rc;
}

static enum error_code say_what_is_there(const struct stage_context *context, const char *id,
                                         struct error *err)
{
    const struct version_place place = {.store = context->store, .root = id};
    char newest[ID_SIZE];
    bool found = false;
    enum error_code rc = version_chain_newest(&place, newest, err);
    if (rc == ERROR_NONE)
        rc = dataset_versions_has(&place, newest, &found, err);
    if (rc == ERROR_NONE)
        (void)printf("%sdataset=%s\n", found ? "unchanged " : "", newest);
    return rc;
}

/* The ref by which programs that do not read the input find the dataset. Its name is made of the
 * settings as text. */
struct input_name {
    struct key key;
    char before[ID_SIZE]; /* its value before the input was read; "": none */
};

static enum error_code open_input_name(const struct stage_context *context, struct input_name *name,
                                       struct error *err)
{
    const enum error_code rc = run_input_switch(context->settings, "dataset", &name->key, err);
    return rc == ERROR_NONE ? identity_named(context->store, &name->key, name->before, err) : rc;
}

/* Sets the ref to `id`. Another process may do the same at this time. If it has named a later
 * version of the same dataset, that one stays. If it has read other files, the message names it:
 * what this process read may be out of date. */
static enum error_code set_input_name(const struct stage_context *context,
                                      const struct input_name *name, const char *id,
                                      struct error *err)
{
    for (int i = 0; i < NAME_ATTEMPTS; i++) {
        char now[ID_SIZE];
        bool is_later = false, is_earlier = false, matched = false;
        enum error_code rc = identity_named(context->store, &name->key, now, err);
        if (rc != ERROR_NONE)
            return rc;
        if (now[0])
            rc = version_chain_leads(context->store, id, now, &is_later, err);
        is_later = is_later && strcmp(now, id) != 0;
        /* the same value is set again, because gc spares refs that were set lately */
        if (rc != ERROR_NONE || is_later)
            return rc;
        if (now[0])
            rc = version_chain_leads(context->store, now, id, &is_earlier, err);
        if (rc == ERROR_NONE && now[0] && !is_earlier && strcmp(now, name->before) != 0)
            return error_set(
                err, ERROR_BUSY,
                "while dataset %s was read, another process with the same settings read "
                "other files, dataset %s: the input has to be read again",
                id, now);
        if (rc == ERROR_NONE)
            rc = store_switch_exchange(context->store, name->key.text, now[0] ? now : NULL, id,
                                       &matched, err);
        if (rc != ERROR_NONE || matched)
            return rc;
    }
    return error_set(err, ERROR_BUSY, "ref %s changes whenever it is read", name->key.text);
}

/* Sets the ref of the dataset, which is stored at this point. */
static enum error_code name_dataset(const struct stage_context *context,
                                    const struct input_name *name, const char *id, bool found,
                                    int warnings, struct dataset_schema *schema, struct error *err)
{
    if (found && !context->is_replay)
        log_info("%s dataset=%s",
                 context->update ? "the update was applied already" : "input is unchanged", id);
    enum error_code rc = dataset_schema_get(context->store, id, schema, err);
    if (rc != ERROR_NONE || context->is_replay)
        return rc;
    rc = set_input_name(context, name, id, err);
    if (rc == ERROR_NONE)
        rc = identity_note(context->store, id, err);
    if (rc == ERROR_NONE)
        print_summary(schema, found, warnings);
    return rc;
}

/* Finds or makes the dataset. `root`: its first id, by the input. */
static enum error_code find_dataset(const struct stage_context *context,
                                    const struct input_name *name, char root[ID_SIZE],
                                    struct dataset_schema *schema, struct error *err)
{
    char id[ID_SIZE];
    bool found = false;
    struct remarks remarks = {.are_said = !context->is_replay};
    enum error_code rc = ERROR_NONE;
    if (pipeline_has_node_files(context->settings) && pipeline_reads_targets(context->settings) &&
        !context->settings->ingest.class_count)
        rc = node_files_check(context->settings, err);
    if (rc == ERROR_NONE)
        rc = ingest_dataset_id(context->store, context->settings,
                               !context->is_dry_run && !context->is_replay, id, err);
    if (rc == ERROR_NONE)
        (void)memcpy(root, id, ID_SIZE);
    if (rc == ERROR_NONE && context->is_dry_run)
        return say_what_is_there(context, id, err);
    if (rc == ERROR_NONE)
        rc = have_version(context, id, &remarks, &found, schema, err);
    return rc == ERROR_NONE ? name_dataset(context, name, id, found, remarks.warnings, schema, err)
                            : rc;
}

/* Reads local files. */
static enum error_code read_input(const struct stage_context *context,
                                  const struct input_name *name, char root[ID_SIZE],
                                  struct dataset_schema *schema, struct error *err)
{
    struct pipeline_settings *settings = NULL;
    struct stage_context own = *context;
    char seen[FORMAT_SEEN_SIZE];
    enum error_code rc = format_settle(context->settings, &settings, seen, err);
    if (rc == ERROR_NONE && seen[0] && !context->is_replay)
        log_info("ingest.format is auto: %s", seen);
    own.settings = settings;
    if (rc == ERROR_NONE)
        rc = find_dataset(&own, name, root, schema, err);
    memory_free(settings);
    return rc;
}

/* Uses an existing dataset if the objects in S3 are those that it was made of: *done. */
static enum error_code use_known(const struct stage_context *context,
                                 const struct remote_input *remote, const struct input_name *name,
                                 bool *done, struct dataset_schema *schema, struct error *err)
{
    char root[ID_SIZE], newest[ID_SIZE];
    const struct version_place place = {
        .store = context->store, .settings = context->settings, .root = root};
    *done = false;
    if (context->is_replay || context->update || !remote_input_recall(remote, context->store, root))
        return ERROR_NONE;
    enum error_code rc = version_chain_newest(&place, newest, err);
    if (rc == ERROR_NONE)
        rc = dataset_versions_has(&place, newest, done, err);
    if (rc != ERROR_NONE || !*done)
        return rc;
    return context->is_dry_run ? say_what_is_there(context, root, err)
                               : name_dataset(context, name, newest, true, 0, schema, err);
}

/* Downloads and reads the objects. `own`: the settings of this call, which are changed. */
static enum error_code read_remote(const struct stage_context *context, struct remote_input *remote,
                                   const struct input_name *name, struct pipeline_settings *own,
                                   struct dataset_schema *schema, struct error *err)
{
    char root[ID_SIZE];
    bool done = false;
    struct stage_context here = *context;
    here.settings = own;
    enum error_code rc = use_known(context, remote, name, &done, schema, err);
    if (rc != ERROR_NONE || done)
        return rc;
    rc = remote_input_fetch(remote, context->store, err);
    if (rc == ERROR_NONE)
        rc = read_input(&here, name, root, schema, err);
    if (rc != ERROR_NONE)
        remote_input_name_origin(remote, err);
    else if (!context->is_replay && !context->is_dry_run)
        remote_input_remember(remote, context->store, root);
    return rc;
}

/* Reads the input, local or in S3. */
static enum error_code read_all(const struct stage_context *context, struct remote_input *remote,
                                struct pipeline_settings *settings, struct dataset_schema *schema,
                                struct error *err)
{
    char root[ID_SIZE];
    struct input_name name;
    *settings = *context->settings;
    enum error_code rc = remote_input_find(settings, remote, err);
    if (rc == ERROR_NONE)
        rc = open_input_name(context, &name, err);
    if (rc != ERROR_NONE)
        return rc;
    return remote->count ? read_remote(context, remote, &name, settings, schema, err)
                         : read_input(context, &name, root, schema, err);
}

static enum error_code read_with_update(const struct stage_context *context,
                                        struct remote_input *remote,
                                        struct pipeline_settings *settings,
                                        struct dataset_schema *schema, struct error *err)
{
    struct remote_update *update = NULL;
    struct stage_context own = *context;
    enum error_code rc = memory_new(&update, 1, "addresses of an update", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = remote_update_fetch(context->update, context->store, update, err);
    own.update = &update->request;
    if (rc == ERROR_NONE)
        rc = read_all(&own, remote, settings, schema, err);
    if (rc != ERROR_NONE)
        remote_input_name_origin(&update->files, err);
    remote_input_close(&update->files);
    memory_free(update);
    return rc;
}

static enum error_code ingest_work(const struct stage_context *context, void *state,
                                   const struct unit *unit, struct error *err)
{
    struct dataset_schema *schema = NULL; /* too large for the stack of a 32-bit system */
    struct pipeline_settings *settings = NULL;
    struct remote_input *remote = NULL;
    (void)state;
    must(unit->kind == UNIT_INGEST);
    progress_report_to(say_progress);
    enum error_code rc = memory_new(&schema, 1, "the schema of a dataset", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&settings, 1, "settings", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&remote, 1, "addresses of the input", err);
    if (rc == ERROR_NONE)
        rc =
            (context->update ? read_with_update : read_all)(context, remote, settings, schema, err);
    if (remote)
        remote_input_close(remote);
    memory_free(remote);
    memory_free(settings);
    memory_free(schema);
    return rc;
}

const struct stage stage = {
    .name = "ingest",
    .summary = "read the user's graph, or generate one, into the records of a dataset",
    .reads = "",
    .writes = "dataset_schema, edge_chunk, feature_chunk, node_labels, node_splits, "
              "edge_splits, graph_index, node_ids, feature_statistics, node_columns, node_times, "
              "dataset_delta, dataset_merge",
    .form = STAGE_ONCE,
    .work = ingest_work,
};
