#include "pipelines/store/store_census.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "stages/plan/chain/chain_state.h"
#include "stages/plan/chain/metrics_log.h"
#include "stages/plan/run/run_binding.h"
#include "store/records/partition/partition_book.h"
#include "store/records/partition/partition_delta.h"
#include "store/records/round/outputs_seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const census_kind_name[CENSUS_KIND_COUNT] = {"dataset", "partition", "run"};
const char *const census_state_name[CENSUS_FINISHED + 1] = {"leftover", "lost", "training",
                                                            "trained", "finished"};

/* --- which there are --- */

/* Splits a key such as "run/<id>/...". */
static bool piece_of(const char *key, enum census_kind *kind, char id[ID_SIZE])
{
    const size_t front = strcspn(key, "/");
    const size_t size = key[front] ? strcspn(key + front + 1, "/") : 0;
    if (size == 0 || size >= ID_SIZE)
        return false;
    memcpy(id, key + front + 1, size);
    id[size] = '\0';
    for (int k = 0; k < CENSUS_KIND_COUNT; k++)
        if (strlen(census_kind_name[k]) == front && strncmp(key, census_kind_name[k], front) == 0) {
            *kind = (enum census_kind)k;
            return true;
        }
    return false;
}

/* Keys are listed in order, so the keys of one piece are consecutive. */
static enum error_code add_key(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct store_census *census = context;
    struct census_entry entry = {.metric = METRIC_COUNT};
    (void)is_artifact;
    if (!piece_of(key, &entry.kind, entry.id))
        return ERROR_NONE;
    if (census->count && census->entry[census->count - 1].kind == entry.kind &&
        strcmp(census->entry[census->count - 1].id, entry.id) == 0)
        return ERROR_NONE;
    const enum error_code rc = memory_grow(&census->entry, &census->capacity, census->count + 1,
                                           "what is in a store", err);
    if (rc == ERROR_NONE)
        census->entry[census->count++] = entry;
    return rc;
}

const struct census_entry *store_census_find(const struct store_census *census,
                                             enum census_kind kind, const char *id)
{
    for (size_t i = 0; i < census->count; i++)
        if (census->entry[i].kind == kind && strcmp(census->entry[i].id, id) == 0)
            return &census->entry[i];
    return NULL;
}

/* --- how large and how old --- */

struct tree_size {
    const char *folder;
    uint64_t bytes;
    int64_t oldest;
};

/* Adds the size of a file. A file that vanishes meanwhile has size 0. Blocks are counted instead of
 * the length, because files of shards have holes. */
static enum error_code add_file(void *context, const char *name, struct error *err)
{
    struct tree_size *tree = context;
    char path[FILE_PATH_SIZE];
    struct stat info;
    const enum error_code rc = file_path(path, err, "%s/%s", tree->folder, name);
    if (rc != ERROR_NONE || lstat(path, &info) != 0)
        return rc;
    if (tree->oldest == 0 || info.st_mtime < tree->oldest)
        tree->oldest = info.st_mtime;
    if (!S_ISDIR(info.st_mode)) {
        tree->bytes += (uint64_t)info.st_blocks * 512;
        return ERROR_NONE;
    }
    struct tree_size below = {.folder = path, .oldest = tree->oldest};
    const enum error_code inner = file_list(path, add_file, &below, err);
    tree->bytes += below.bytes;
    tree->oldest = below.oldest < tree->oldest ? below.oldest : tree->oldest;
    return inner == ERROR_NOT_FOUND ? ERROR_NONE : inner;
}

static enum error_code measure(struct store *store, struct census_entry *entry, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    struct tree_size tree = {.folder = folder};
    if (!(store_capabilities(store) & STORE_HAS_PATHS))
        return ERROR_NONE;
    enum error_code rc = file_path(folder, err, "%s/%s/%s", store_root(store),
                                   census_kind_name[entry->kind], entry->id);
    if (rc == ERROR_NONE)
        rc = file_list(folder, add_file, &tree, err);
    entry->bytes = tree.bytes;
    entry->seconds = tree.oldest;
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* --- what they are --- */

/* Finds the first score after the loss. */
static void find_score(const struct json_node *root, struct census_entry *entry)
{
    static const char *const splits[] = {"test", "valid"};
    for (size_t s = 0; s < sizeof splits / sizeof *splits; s++)
        for (enum metric m = 0; m < METRIC_COUNT; m++) {
            double value = 0.0;
            if (!metric_table[m].is_told || strcmp(metric_table[m].name, "loss") == 0 ||
                !json_double(json_get(json_get(root, splits[s]), metric_table[m].name), &value))
                continue;
            entry->metric = m;
            entry->score = value;
            must(text_copy(entry->score_split, sizeof entry->score_split, splits[s]));
            return;
        }
}

static void read_score(struct store *store, const struct run_binding *run,
                       const struct chain_state *state, struct census_entry *entry)
{
    static struct outputs_seal seal;
    struct json_document *metrics = NULL;
    const struct key key =
        key_outputs_seal(run->plan.id, state->weights_version, run->schedule.outputs_tag);
    if (outputs_seal_get(store, key.text, run->plan.id, &seal, NULL) != ERROR_NONE ||
        json_parse(seal.metrics, strlen(seal.metrics), key.text, &metrics, NULL) != ERROR_NONE)
        return;
    find_score(json_root(metrics), entry);
    json_free(metrics);
}

/* Describes a run. One that cannot be read stays CENSUS_LOST, with what is known about it. */
static void describe_run(struct store *store, const char *newest, struct census_entry *entry)
{
    static struct run_binding run;
    struct chain_state state = {0};
    bool has_plan = true;
    entry->is_newest = strcmp(entry->id, newest) == 0;
    if (store_has(store, key_run_plan(entry->id).text, &has_plan, NULL) == ERROR_NONE && !has_plan)
        return;
    entry->state = CENSUS_LOST;
    if (run_plan_get(store, entry->id, &run.plan, NULL) == ERROR_NONE)
        must(text_copy(entry->stands_on, sizeof entry->stands_on, run.plan.partition_id));
    if (run_open(store, entry->id, &run, NULL) != ERROR_NONE)
        return;
    if (chain_state_read(&run.schedule, store, entry->id, &state, NULL) == ERROR_NONE) {
        entry->state = state.finished  ? CENSUS_FINISHED
                       : state.stopped ? CENSUS_TRAINED
                                       : CENSUS_TRAINING;
        entry->rounds = state.snapshot_version < 0 ? 0 : state.snapshot_version;
        entry->round_count = run.schedule.round_count;
    }
    if (state.finished)
        read_score(store, &run, &state, entry);
    run_close(&run);
}

static void describe_partition(struct store *store, struct census_entry *entry)
{
    static struct partition_book book;
    if (partition_book_get(store, entry->id, &book, NULL) != ERROR_NONE)
        return;
    must(text_copy(entry->stands_on, sizeof entry->stands_on, book.dataset_id));
    store_release_record(&book.view);
    if (partition_delta_base(store, entry->id, entry->base, NULL) != ERROR_NONE)
        entry->base[0] = '\0';
}

static int by_kind_and_age(const void *a, const void *b)
{
    const struct census_entry *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? 1 : -1;
    if (x->is_newest != y->is_newest)
        return x->is_newest ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return strcmp(x->id, y->id);
}

enum error_code store_census_read(struct store *store, struct store_census *out, struct error *err)
{
    char newest[ID_SIZE] = "";
    *out = (struct store_census){0};
    if (run_newest(store, newest, NULL) != ERROR_NONE)
        newest[0] = '\0';
    enum error_code rc = store_list(store, "", add_key, out, err);
    for (size_t i = 0; rc == ERROR_NONE && i < out->count; i++) {
        struct census_entry *entry = &out->entry[i];
        rc = measure(store, entry, err);
        if (entry->kind == CENSUS_RUN)
            describe_run(store, newest, entry);
        else if (entry->kind == CENSUS_PARTITION)
            describe_partition(store, entry);
    }
    if (rc != ERROR_NONE) {
        store_census_release(out);
        return rc;
    }
    if (out->count)
        qsort(out->entry, out->count, sizeof *out->entry, by_kind_and_age);
    return ERROR_NONE;
}

void store_census_release(struct store_census *census)
{
    memory_free(census->entry);
    *census = (struct store_census){0};
}

/* --- taking away --- */

struct removal {
    struct store *store;
    const char *id, *prefix;
    struct key *key; /* [count], owned */
    size_t count, capacity;
};

static enum error_code note_key(struct removal *removal, const char *key, struct error *err)
{
    const enum error_code rc = memory_grow(&removal->key, &removal->capacity, removal->count + 1,
                                           "keys to be removed", err);
    if (rc == ERROR_NONE && !text_copy(removal->key[removal->count].text, KEY_SIZE, key))
        return error_set(err, ERROR_CORRUPT, "%.60s... is no key", key);
    removal->count += rc == ERROR_NONE;
    return rc;
}

static enum error_code visit_key(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    (void)is_artifact;
    return note_key(context, key, err);
}

/* Collects the refs of the run itself, and those that name only this run. A ref of a lineage names
 * several runs; its readers skip those that no longer exist (stages/plan/run/run_adoption.h). */
static enum error_code visit_switch(void *context, const char *key, bool is_artifact,
                                    struct error *err)
{
    struct removal *removal = context;
    char text[4096];
    const size_t front = strlen(removal->prefix);
    (void)is_artifact;
    if (strncmp(key, removal->prefix, front) == 0 && key[front] == '/')
        return note_key(removal, key, err);
    if (store_switch_get(removal->store, key, text, sizeof text, NULL) != ERROR_NONE)
        return ERROR_NONE;
    const size_t size = strlen(removal->id);
    const bool names_it =
        strncmp(text, removal->id, size) == 0 && text[size + strspn(text + size, " ")] == '\0';
    return names_it ? note_key(removal, key, err) : ERROR_NONE;
}

static enum error_code remove_switches(struct removal *removal, struct error *err)
{
    removal->count = 0;
    enum error_code rc = store_switch_list(removal->store, visit_switch, removal, err);
    for (size_t i = 0; rc == ERROR_NONE && i < removal->count; i++)
        rc = store_switch_remove(removal->store, removal->key[i].text, err);
    return rc;
}

static enum error_code remove_records(struct removal *removal, struct error *err)
{
    removal->count = 0;
    enum error_code rc = store_list(removal->store, removal->prefix, visit_key, removal, err);
    for (size_t i = 0; rc == ERROR_NONE && i < removal->count; i++)
        rc = store_remove(removal->store, removal->key[i].text, err);
    return rc;
}

static enum error_code remove_note(struct store *store, const char *run_id, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const struct key note = metrics_log_note(run_id);
    if (!(store_capabilities(store) & STORE_HAS_PATHS))
        return ERROR_NONE;
    enum error_code rc = store_note_path(store, note.text, path, err);
    if (rc != ERROR_NONE)
        return rc;
    *strrchr(path, '/') = '\0'; /* the folder of the run's notes */
    return file_remove_all(path, err);
}

enum error_code store_census_remove(struct store *store, const struct census_entry *entry,
                                    struct error *err)
{
    static const char *const closing[CENSUS_KIND_COUNT] = {"schema", "book", "plan"};
    char prefix[KEY_SIZE], first[KEY_SIZE];
    struct removal removal = {.store = store, .id = entry->id, .prefix = prefix};
    (void)snprintf(prefix, sizeof prefix, "%s/%s", census_kind_name[entry->kind], entry->id);
    (void)snprintf(first, sizeof first, "%.150s/%s", prefix, closing[entry->kind]);
    enum error_code rc = store_remove(store, first, err);
    if (rc == ERROR_NONE)
        rc = remove_switches(&removal, err);
    if (rc == ERROR_NONE)
        rc = remove_records(&removal, err);
    if (rc == ERROR_NONE && entry->kind == CENSUS_RUN)
        rc = remove_note(store, entry->id, err);
    memory_free(removal.key);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s", prefix);
}
