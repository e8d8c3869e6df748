/*
 * verify - every stored byte against its hash: records by their header, artifacts by their seal.
 *
 * Reads all of a store, or of one run with what it stands on. Each damage is one line; the command goes on
 * to the end and then fails. What should be there and is not counts as damage too (missing_records.h).
 *
 * --remove takes away what is damaged, with the record that closes that piece of work: so the next
 * `graphmill run` does the piece again. Nothing else in a store has to be mended by hand.
 */
#include "common/base/json.h"
#include "common/base/options.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "pipelines/commands.h"
#include "pipelines/missing_records.h"
#include "pipelines/run_folder.h"
#include "stages/chain.h"
#include "store/feature_shard.h"
#include "store/records/outputs_seal.h"
#include "store/records/topology_seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct verify_options {
    const char *run;
    bool json, list, remove;
};

/* clang-format off */
#define AT(field) offsetof(struct verify_options, field)
static const struct option_spec option_table[] = {
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID", "which run, when the folder has several (default: the newest)"},
    {"list", OPTION_FLAG, AT(list), NULL, 0, 0, NULL, "print the manifest: each record with its kind, size and content hash"},
    {"remove", OPTION_FLAG, AT(remove), NULL, 0, 0, NULL, "remove what is damaged, so that graphmill run makes it again"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

struct verification {
    struct run_folder *folder;
    const struct verify_options *options;
    int64_t records, artifacts, damaged;
    struct error removal; /* of the first that could not be removed */
    uint64_t bytes;
    char first_damage[512];
};

static bool ends_with(const char *key, const char *end)
{
    const size_t size = strlen(key), tail = strlen(end);
    return size >= tail && strcmp(key + size - tail, end) == 0;
}

/* Whether `key` lies in the first two names of `family`/..., as dataset/<id>; if so, puts `closer` there. */
static bool closer_of(const char *key, const char *family, const char *closer, struct key *out)
{
    const size_t front = strlen(family);
    if (strncmp(key, family, front) != 0)
        return false;
    const size_t id = strcspn(key + front, "/");
    (void)snprintf(out->text, sizeof out->text, "%.*s/%s", (int)(front + id), key, closer);
    return true;
}

/* run/<id>/outputs/<version>[-<tag>] */
static bool is_outputs(const char *key)
{
    return strncmp(key, "run/", strlen("run/")) == 0 && strstr(key, "/outputs/") != NULL;
}

/* An artifact and its seal go together; a dataset or partition loses the record that says it is whole. */
static enum error_code remove_piece(struct store *store, const char *key, struct error *err)
{
    static const char mark[] = "_seal";
    const bool is_seal = ends_with(key, mark);
    const bool is_artifact =
        ends_with(key, "/shard") || ends_with(key, "/topology") || is_outputs(key);
    struct key other;
    enum error_code rc = ERROR_NONE;
    if (closer_of(key, "dataset/", "schema", &other) ||
        closer_of(key, "partition/", "book", &other))
        rc = store_remove(store, other.text, err);
    if (is_seal)
        (void)snprintf(other.text, sizeof other.text, "%.*s", (int)(strlen(key) - strlen(mark)),
                       key);
    else if (is_artifact)
        (void)snprintf(other.text, sizeof other.text, "%.190s%s", key, mark);
    if (rc == ERROR_NONE && (is_seal || is_artifact))
        rc = store_remove(store, other.text, err);
    return rc == ERROR_NONE ? store_remove(store, key, err) : rc;
}

static void note_damage(struct verification *v, const char *key, const struct error *cause)
{
    if (v->options->remove && !v->removal.message[0])
        (void)remove_piece(v->folder->store, key, &v->removal);
    const bool named = strstr(cause->message, key) != NULL;
    char text[sizeof v->first_damage];
    (void)snprintf(text, sizeof text, "%.190s%s%.300s", named ? "" : key, named ? "" : ": ",
                   cause->message);
    if (v->damaged++ == 0)
        memcpy(v->first_damage, text, sizeof text);
    if (!v->options->json)
        printf("DAMAGED %s\n", text);
}

static enum error_code verify_shard(struct verification *v, const char *key, struct error *err)
{
    char seal[KEY_SIZE];
    struct feature_shard *shard = NULL;
    (void)snprintf(seal, sizeof seal, "%.190s_seal", key);
    enum error_code rc = feature_shard_open(v->folder->store, key, seal, NULL, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, err);
    feature_shard_close(shard);
    return rc;
}

static enum error_code verify_outputs(struct verification *v, const char *key, struct error *err)
{
    static struct outputs_seal seal;
    char path[FILE_PATH_SIZE], run_id[ID_SIZE], seal_key[KEY_SIZE];
    const size_t size = strcspn(key + strlen("run/"), "/");
    if (size >= sizeof run_id)
        return error_set(err, ERROR_CORRUPT, "'%s' has no run id", key);
    memcpy(run_id, key + strlen("run/"), size);
    run_id[size] = '\0';
    (void)snprintf(seal_key, sizeof seal_key, "%.190s_seal", key);
    enum error_code rc = outputs_seal_get(v->folder->store, seal_key, run_id, &seal, err);
    if (rc == ERROR_NONE)
        rc = store_artifact(v->folder->store, key, path, err);
    return rc == ERROR_NONE ? outputs_seal_check(&seal, path, err) : rc;
}

static enum error_code verify_topology(struct verification *v, const char *key, struct error *err)
{
    const struct partition_book *book = &v->folder->run.book;
    for (int part = 0; part < book->part_count; part++)
        if (strcmp(key_part(book->id, part, "topology").text, key) == 0)
            return topology_seal_verify(v->folder->store, book->id, part, err);
    return error_set(err, ERROR_CORRUPT, "the partition has %d parts, this is none of them",
                     book->part_count);
}

static enum error_code verify_artifact(struct verification *v, const char *key, struct error *err)
{
    v->artifacts++;
    if (ends_with(key, "/shard"))
        return verify_shard(v, key, err);
    if (is_outputs(key))
        return verify_outputs(v, key, err);
    if (ends_with(key, "/topology"))
        return verify_topology(v, key, err);
    return error_set(err, ERROR_CORRUPT, "no kind of artifact ends like this");
}

static enum error_code verify_record(struct verification *v, const char *key, struct error *err)
{
    struct record_view view = {0};
    const enum error_code rc = store_get(v->folder->store, key, NULL, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    v->records++;
    v->bytes += view.size;
    if (v->options->list) {
        char digits[CHECKSUM_TEXT_SIZE];
        checksum_text(&view.content, digits);
        printf("%s %s %zu %s\n", digits, record_kind_name(view.kind), view.size, key);
    }
    store_release_record(&view);
    return ERROR_NONE;
}

static enum error_code visit(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct verification *v = context;
    struct error cause = {0};
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "stopped");
    enum error_code rc =
        is_artifact ? verify_artifact(v, key, &cause) : verify_record(v, key, &cause);
    bool still_there = false;
    if (rc == ERROR_NOT_FOUND && is_artifact &&
        store_has(v->folder->store, key, &still_there, NULL) == ERROR_NONE && still_there)
        rc = ERROR_CORRUPT; /* a file in it, or its seal */
    if (rc == ERROR_CORRUPT || rc == ERROR_IO || rc == ERROR_INPUT)
        note_damage(v, key, &cause);
    else if (rc == ERROR_NO_MEMORY) {
        *err = cause;
        return rc;
    }
    return ERROR_NONE; /* what a living run pruned meanwhile is not damage */
}

static void print_answer(const struct verification *v)
{
    char size[32];
    struct json_writer json = {0};
    if (!v->options->json) {
        printf("%s records=%" PRId64 " artifacts=%" PRId64 " bytes=%" PRIu64
               " (%s) damaged=%" PRId64 "\n",
               v->damaged ? "DAMAGED" : "OK", v->records, v->artifacts, v->bytes,
               text_size(v->bytes, size), v->damaged);
        return;
    }
    json_open_object(&json, NULL);
    json_put_string(&json, "verdict", v->damaged ? "DAMAGED" : "OK");
    json_put_int64(&json, "records", v->records);
    json_put_int64(&json, "artifacts", v->artifacts);
    json_put_int64(&json, "bytes", (int64_t)v->bytes);
    json_put_int64(&json, "damaged", v->damaged);
    if (v->damaged)
        json_put_string(&json, "first_damage", v->first_damage);
    json_close_object(&json);
    if (json_writer_finish(&json, NULL) == ERROR_NONE)
        printf("%s\n", json.text);
    json_writer_release(&json);
}

static void visit_missing(void *context, const char *key)
{
    struct verification *v = context;
    struct error cause = {0};
    (void)error_set(&cause, ERROR_NOT_FOUND, "is missing");
    note_damage(v, key, &cause);
}

/* The switch that names the run's snapshot is no record: when it is lost, or names one that is gone, the
 * newest that is left is what to go on from. */
static enum error_code mend_snapshot_switch(const struct run_folder *folder, struct error *err)
{
    struct chain_state state = {0};
    const char *run_id = folder->run.plan.id;
    const enum error_code rc =
        chain_state_read(&folder->run.schedule, folder->store, run_id, &state, err);
    return rc == ERROR_NONE ? chain_state_mend(folder->store, run_id, &state, err) : rc;
}

/* The run's own records, and those of the partition and the dataset it stands on. */
static enum error_code verify_all(struct verification *v, struct error *err)
{
    const struct run_binding *run = &v->folder->run;
    const struct key prefix[] = {key_dataset(run->book.dataset_id, ""),
                                 key_partition(run->book.id, ""), key_run(run->plan.id, "")};
    /* First what is missing: afterwards --remove has taken away more. */
    enum error_code rc = missing_records_visit(v->folder, visit_missing, v, err);
    for (int i = 0; i < 3 && rc == ERROR_NONE; i++)
        rc = store_list(v->folder->store, prefix[i].text, visit, v, err);
    if (rc == ERROR_NONE && v->options->remove)
        rc = mend_snapshot_switch(v->folder, err);
    if (rc != ERROR_NONE)
        return rc;
    print_answer(v);
    if (v->removal.message[0]) {
        *err = v->removal;
        return error_context(err, err->code, "what is damaged cannot be removed");
    }
    if (v->damaged)
        return error_set(err, ERROR_CORRUPT, "%" PRId64 " damaged; first: %s; %s", v->damaged,
                         v->first_damage,
                         v->options->remove ? "removed: graphmill run makes them again"
                                            : "verify --remove, then run, makes them again");
    return ERROR_NONE;
}

static enum error_code remove_if_damaged(void *context, const char *key, bool is_artifact,
                                         struct error *err)
{
    struct store *store = context;
    struct record_view view = {0};
    if (is_artifact || (!ends_with(key, "/plan") && !ends_with(key, "/book")))
        return ERROR_NONE;
    const enum error_code rc = store_get(store, key, NULL, &view, NULL);
    store_release_record(&view);
    if (rc != ERROR_CORRUPT)
        return ERROR_NONE;
    printf("DAMAGED %s: removed\n", key);
    return store_remove(store, key, err);
}

/* To remove, without a sound plan and book no run can be opened: they go first. */
static enum error_code open_folder(struct run_folder *folder, const char *path,
                                   const struct verify_options *options, struct error *err)
{
    if (!options->remove)
        return run_folder_open(folder, path, options->run, err);
    enum error_code rc = run_folder_open_store(folder, path, 0, err);
    if (rc == ERROR_NONE)
        rc = store_list(folder->store, "", remove_if_damaged, folder->store, err);
    return rc == ERROR_NONE ? run_folder_bind(folder, options->run, err) : rc;
}

enum error_code command_verify(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct verify_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill verify RUN [options] - check every stored record and artifact\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill verify takes one run's folder");
    if (rc == ERROR_NONE)
        rc = open_folder(&folder, rest.item[0], &options, err);
    struct verification verification = {.folder = &folder, .options = &options};
    if (rc == ERROR_NONE)
        rc = verify_all(&verification, err);
    run_folder_close(&folder);
    return rc;
}
