/*
 * gc - removes runs from a folder's store that newer ones have replaced, and data that no run
 * depends on any more.
 *
 *   keep     everything younger than --grace, or named by a ref that was set since then: another
 *            folder may be making it, or may have found it and be about to use it, and no plan
 *            names it yet
 *            the newest --keep runs, every run that is unfinished or damaged, and the partitions
 *            and datasets of those
 *            partitions that such a partition is a delta of
 *            versions of datasets that were updated, and the versions before them
 *   remove   the rest: finished runs, partitions and datasets, and leftovers of interrupted
 *            removals
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "pipelines/store/store_census.h"
#include "store/records/dataset/dataset_delta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct gc_options {
    int64_t keep, grace_seconds;
    const char *grace;
    struct option_list runs;
    bool unfinished, dry_run, json;
};

/* clang-format off */
#define AT(field) offsetof(struct gc_options, field)
static const struct option_spec option_table[] = {
    {"keep", OPTION_INT, AT(keep), "1", 0, 1000000, "N", "number of newest runs that stay"},
    {"grace", OPTION_TEXT, AT(grace), "1d", 0, 0, "DURATION",
     "keep everything younger, such as 30m, 12h or 1d, because a run of another folder may be "
     "making it; 0: nobody else uses the store"},
    {"run", OPTION_LIST, AT(runs), NULL, 0, 0, "ID", "remove only this run; may be repeated"},
    {"unfinished", OPTION_FLAG, AT(unfinished), NULL, 0, 0, NULL, "remove unfinished runs, too"},
    {"dry-run", OPTION_FLAG, AT(dry_run), NULL, 0, 0, NULL,
     "print what would be removed, and change nothing"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

static bool is_named(const struct gc_options *options, const char *id)
{
    for (int i = 0; i < options->runs.count; i++)
        if (strcmp(options->runs.item[i], id) == 0)
            return true;
    return false;
}

/* The entries of the census, and for each of them whether it stays. */
struct choice {
    const struct gc_options *options;
    const struct store_census *census;
    const bool *all; /* [entries], all true */
    /* [entries], younger than the grace period, or named by a ref that was set since */
    bool *young;
    bool *stays; /* [entries] */
};

/* Returns whether a run stays. `newer` is the number of staying runs that were started later. A run
 * that the user named is removed whatever its age. */
static bool run_stays(const struct choice *c, size_t index, int64_t newer)
{
    const struct gc_options *options = c->options;
    const struct census_entry *run = &c->census->entry[index];
    if (options->runs.count)
        return !is_named(options, run->id);
    if (c->young[index])
        return true;
    if (run->state == CENSUS_LEFTOVER)
        return false;
    return newer < options->keep || (run->state != CENSUS_FINISHED && !options->unfinished);
}

static bool is_stood_on(const struct store_census *census, const bool *stays, size_t index)
{
    for (size_t i = 0; i < census->count; i++)
        if (stays[i] && census->entry[i].kind == census->entry[index].kind + 1 &&
            strcmp(census->entry[i].stands_on, census->entry[index].id) == 0)
            return true;
    return false;
}

/* Returns whether a staying partition is a delta of this one. */
static bool is_base(const struct store_census *census, const bool *stays, size_t index)
{
    for (size_t i = 0; i < census->count; i++)
        if (stays[i] && census->entry[i].kind == CENSUS_PARTITION &&
            census->entry[index].kind == CENSUS_PARTITION &&
            strcmp(census->entry[i].base, census->entry[index].id) == 0)
            return true;
    return false;
}

static bool stays_below(const struct choice *c, size_t index)
{
    return c->young[index] || is_stood_on(c->census, c->stays, index) ||
           is_base(c->census, c->stays, index) ||
           (c->options->runs.count && !is_stood_on(c->census, c->all, index) &&
            !is_base(c->census, c->all, index));
}

/* Decides on deltas before the partitions that they are deltas of; those are not deltas
 * themselves. */
static void decide_partitions(const struct choice *c)
{
    for (int bases = 0; bases < 2; bases++)
        for (size_t i = 0; i < c->census->count; i++)
            if (c->census->entry[i].kind == CENSUS_PARTITION &&
                (c->census->entry[i].base[0] == '\0') == (bases == 1))
                c->stays[i] = stays_below(c, i);
}

/* Decides on runs first, then on partitions, then on datasets: what no staying entry uses is
 * removed. If the user named runs, entries that were unused before stay too. */
static void decide(const struct choice *c)
{
    int64_t newer = 0;
    for (size_t i = 0; i < c->census->count; i++) {
        if (c->census->entry[i].kind != CENSUS_RUN)
            continue;
        c->stays[i] = run_stays(c, i, newer);
        newer += c->stays[i];
    }
    decide_partitions(c);
    for (size_t i = 0; i < c->census->count; i++)
        if (c->census->entry[i].kind == CENSUS_DATASET)
            c->stays[i] = stays_below(c, i);
}

/* --- what is too young --- */

struct age_search {
    struct store *store;
    int64_t grace;
    bool is_young;
    const struct choice *choice;
};

/* Fails with ERROR_BUSY at the first young record, which ends the listing. */
static enum error_code look_at_age(void *context, const char *key, bool is_artifact,
                                   struct error *err)
{
    struct age_search *search = context;
    int64_t seconds = 0;
    (void)is_artifact;
    const enum error_code rc = store_age(search->store, key, &seconds, err);
    if (rc != ERROR_NONE)
        return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc; /* it was removed in the meantime */
    search->is_young = seconds < search->grace;
    return search->is_young ? ERROR_BUSY : ERROR_NONE;
}

/* Finds out which of the remaining entries are too young to be removed. */
static enum error_code find_young(struct store *store, const struct choice *c, struct error *err)
{
    for (size_t i = 0; i < c->census->count; i++) {
        const struct census_entry *entry = &c->census->entry[i];
        struct age_search search = {.store = store, .grace = c->options->grace_seconds};
        char prefix[KEY_SIZE];
        if (c->young[i] || c->stays[i])
            continue;
        (void)snprintf(prefix, sizeof prefix, "%s/%s", census_kind_name[entry->kind], entry->id);
        const enum error_code rc = store_list(store, prefix, look_at_age, &search, err);
        if (rc != ERROR_NONE && !search.is_young)
            return rc;
        c->young[i] = search.is_young;
    }
    return ERROR_NONE;
}

/* Marks what a ref names. A run of another folder names what it has found or made by a ref, long
 * before its plan names it. */
static enum error_code look_at_switch(void *context, const char *key, bool is_artifact,
                                      struct error *err)
{
    static const char *const naming[] = {"current/dataset/", "current/partition/"};
    const struct age_search *search = context;
    char id[ID_SIZE];
    int64_t seconds = 0;
    bool names = false;
    (void)is_artifact;
    for (size_t i = 0; i < sizeof naming / sizeof *naming; i++)
        names |= text_begins(key, naming[i]);
    if (!names || store_switch_get(search->store, key, id, sizeof id, NULL) != ERROR_NONE)
        return ERROR_NONE;
    const enum error_code rc = store_switch_age(search->store, key, &seconds, err);
    if (rc != ERROR_NONE || seconds >= search->grace)
        return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
    for (size_t i = 0; i < search->choice->census->count; i++)
        search->choice->young[i] |= strcmp(search->choice->census->entry[i].id, id) == 0;
    return ERROR_NONE;
}

static enum error_code find_spared(struct store *store, const struct choice *c, struct error *err)
{
    struct age_search search = {.store = store, .grace = c->options->grace_seconds, .choice = c};
    if (search.grace == 0)
        return ERROR_NONE;
    const enum error_code rc = store_switch_list(store, look_at_switch, &search, err);
    return rc == ERROR_NONE ? find_young(store, c, err) : rc;
}

/* Keeps the versions of an updated dataset, and the versions before them. The next run uses the
 * newest version, even if no run has used it yet, and each version is made again from the one
 * before it. */
static enum error_code keep_versions(struct store *store, const struct store_census *census,
                                     bool *stays, struct error *err)
{
    for (size_t i = 0; i < census->count; i++) {
        struct dataset_delta delta;
        if (census->entry[i].kind != CENSUS_DATASET)
            continue;
        const enum error_code rc = dataset_delta_get(store, census->entry[i].id, &delta, err);
        if (rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT)
            continue;
        if (rc != ERROR_NONE)
            return rc;
        stays[i] = true;
        for (size_t j = 0; j < census->count; j++)
            stays[j] |= census->entry[j].kind == CENSUS_DATASET &&
                        strcmp(census->entry[j].id, delta.base) == 0;
        store_release_record(&delta.view);
    }
    return ERROR_NONE;
}

static enum error_code check_names(const struct gc_options *options,
                                   const struct store_census *census, struct error *err)
{
    for (int i = 0; i < options->runs.count; i++)
        if (!store_census_find(census, CENSUS_RUN, options->runs.item[i]))
            return error_set(err, ERROR_NOT_FOUND,
                             "there is no run %s here; graphmill list says which",
                             options->runs.item[i]);
    return ERROR_NONE;
}

static void tell(const struct gc_options *options, const struct census_entry *entry,
                 struct json_writer *json)
{
    char size[32] = "-";
    if (!options->json) {
        if (entry->bytes)
            (void)text_size(entry->bytes, size);
        printf("%s %-9s %-34s %10s\n", options->dry_run ? "would remove" : "removed",
               census_kind_name[entry->kind], entry->id, size);
        return;
    }
    json_open_object(json, NULL);
    json_put_string(json, "kind", census_kind_name[entry->kind]);
    json_put_string(json, "id", entry->id);
    json_put_int64(json, "bytes", (int64_t)entry->bytes);
    json_close_object(json);
}

struct freed {
    int64_t pieces;
    uint64_t bytes;
};

static enum error_code remove_rest(const struct gc_options *options, struct store *store,
                                   const struct store_census *census, const bool *stays,
                                   struct json_writer *json, struct freed *freed, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < census->count; i++) {
        if (stays[i])
            continue;
        if (!options->dry_run)
            rc = store_census_remove(store, &census->entry[i], err);
        if (rc != ERROR_NONE)
            break;
        tell(options, &census->entry[i], json);
        freed->pieces++;
        freed->bytes += census->entry[i].bytes;
    }
    return rc;
}

static enum error_code answer(const struct gc_options *options, const struct freed *freed,
                              struct json_writer *json, struct error *err)
{
    char size[32];
    if (!options->json) {
        printf("%s %" PRId64 " pieces, %s\n", options->dry_run ? "would free" : "freed",
               freed->pieces, text_size(freed->bytes, size));
        return ERROR_NONE;
    }
    json_close_array(json);
    json_put_bool(json, "dry_run", options->dry_run);
    json_put_int64(json, "bytes", (int64_t)freed->bytes);
    json_close_object(json);
    return json_writer_print(json, err);
}

static enum error_code collect(const struct gc_options *options, struct store *store,
                               struct error *err)
{
    struct store_census census = {0};
    struct json_writer json = {0};
    struct freed freed = {0};
    bool *all = NULL, *young = NULL, *stays = NULL;
    json_open_object(&json, NULL);
    json_open_array(&json, "removed");
    enum error_code rc = store_census_read(store, &census, err);
    if (rc == ERROR_NONE)
        rc = check_names(options, &census, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&all, census.count + 1, "what is in a store", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&young, census.count + 1, "what is in a store", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&stays, census.count + 1, "what is in a store", err);
    const struct choice choice = {options, &census, all, young, stays};
    if (rc == ERROR_NONE) {
        memset(all, true, census.count);
        decide(&choice);
        rc = find_spared(store, &choice, err);
    }
    if (rc == ERROR_NONE) {
        decide(&choice); /* again, because spared entries depend on others */
        rc = keep_versions(store, &census, stays, err);
    }
    if (rc == ERROR_NONE)
        rc = remove_rest(options, store, &census, stays, &json, &freed, err);
    if (rc == ERROR_NONE)
        rc = answer(options, &freed, &json, err);
    memory_free(all);
    memory_free(young);
    memory_free(stays);
    json_writer_release(&json);
    store_census_release(&census);
    return rc;
}

/* Opens the folder with its lock, which keeps `graphmill run` away; a dry run only reads. */
static enum error_code open_folder(const struct gc_options *options, const char *path,
                                   struct run_folder *folder, struct error *err)
{
    enum error_code rc = run_folder_open_store(folder, path, STORE_READ_ONLY, err);
    if (rc != ERROR_NONE || options->dry_run)
        return rc;
    const char *root = store_root(folder->store);
    const bool is_run_folder = folder->path[0] && (!root || strcmp(root, folder->path) != 0);
    run_folder_close(folder);
    return is_run_folder ? run_folder_create(folder, path, NULL, err)
                         : run_folder_open_store(folder, path, 0, err);
}

enum error_code command_gc(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct gc_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill gc RUN [options] - take away runs that newer ones replaced, and what "
               "none stands on\n\n"
               "RUN is the folder of runs of one pipeline, or a store. What is younger than "
               "--grace stays: "
               "a run of\nanother folder may be making it.\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill gc takes one run's folder");
    if (rc == ERROR_NONE && !text_seconds(options.grace, &options.grace_seconds))
        rc = error_set(err, ERROR_USAGE,
                       "--grace %s: expected a duration, such as 0, 90s, 30m, 12h or 1d",
                       options.grace);
    if (rc == ERROR_NONE)
        rc = open_folder(&options, rest.item[0], &folder, err);
    if (rc == ERROR_NONE)
        rc = collect(&options, folder.store, err);
    run_folder_close(&folder);
    return rc;
}
