/*
 * gc - takes runs out of a folder's store that newer ones have replaced, and what no run stands on any more.
 *
 *   keep     the newest --keep runs, every run that is not finished or is damaged, and the partitions and datasets of those
 *            partitions that such a partition is a delta of
 *            versions of datasets that were updated, and what they are versions of
 *   remove   all else: finished runs, partitions and datasets, and what is left of removals that were cut short
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "pipelines/commands.h"
#include "pipelines/run_folder.h"
#include "pipelines/store_census.h"
#include "store/records/dataset_delta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct gc_options {
    int64_t keep;
    struct option_list runs;
    bool unfinished, dry_run, json;
};

/* clang-format off */
#define AT(field) offsetof(struct gc_options, field)
static const struct option_spec option_table[] = {
    {"keep", OPTION_INT, AT(keep), "1", 0, 1000000, "N", "so many runs stay, the newest"},
    {"run", OPTION_LIST, AT(runs), NULL, 0, 0, "ID", "take this run away, and no other; may be repeated"},
    {"unfinished", OPTION_FLAG, AT(unfinished), NULL, 0, 0, NULL, "take away runs that are not finished, too"},
    {"dry-run", OPTION_FLAG, AT(dry_run), NULL, 0, 0, NULL, "say what would go, and change nothing"},
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

/* `newer`: runs that were begun later and stay. */
static bool run_stays(const struct gc_options *options, const struct census_entry *run,
                      int64_t newer)
{
    if (options->runs.count)
        return !is_named(options, run->id);
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

/* Whether a partition that stays is a delta of this one. */
static bool is_base(const struct store_census *census, const bool *stays, size_t index)
{
    for (size_t i = 0; i < census->count; i++)
        if (stays[i] && census->entry[i].kind == CENSUS_PARTITION &&
            census->entry[index].kind == CENSUS_PARTITION &&
            strcmp(census->entry[i].base, census->entry[index].id) == 0)
            return true;
    return false;
}

static bool stays_below(const struct gc_options *options, const struct store_census *census,
                        const bool *all, const bool *stays, size_t index)
{
    return is_stood_on(census, stays, index) || is_base(census, stays, index) ||
           (options->runs.count && !is_stood_on(census, all, index) &&
            !is_base(census, all, index));
}

/* Deltas before what they may be deltas of, which are none. */
static void decide_partitions(const struct gc_options *options, const struct store_census *census,
                              const bool *all, bool *stays)
{
    for (int bases = 0; bases < 2; bases++)
        for (size_t i = 0; i < census->count; i++)
            if (census->entry[i].kind == CENSUS_PARTITION &&
                (census->entry[i].base[0] == '\0') == (bases == 1))
                stays[i] = stays_below(options, census, all, stays, i);
}

/* Runs come first, partitions next, datasets last; what nobody stands on goes, unless runs were named: then that stays which
 * nobody stood on before. */
static void decide(const struct gc_options *options, const struct store_census *census,
                   const bool *all, bool *stays)
{
    int64_t newer = 0;
    for (size_t i = 0; i < census->count; i++) {
        if (census->entry[i].kind != CENSUS_RUN)
            continue;
        stays[i] = run_stays(options, &census->entry[i], newer);
        newer += stays[i];
    }
    decide_partitions(options, census, all, stays);
    for (size_t i = 0; i < census->count; i++)
        if (census->entry[i].kind == CENSUS_DATASET)
            stays[i] = stays_below(options, census, all, stays, i);
}

/* Versions of a dataset that was updated stay, and what they are versions of: the next run is on the newest, whether or not there
 * was one, and each is made again from the one before. */
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
    bool *all = NULL, *stays = NULL;
    json_open_object(&json, NULL);
    json_open_array(&json, "removed");
    enum error_code rc = store_census_read(store, &census, err);
    if (rc == ERROR_NONE)
        rc = check_names(options, &census, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&all, census.count + 1, "what is in a store", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&stays, census.count + 1, "what is in a store", err);
    if (rc == ERROR_NONE) {
        memset(all, true, census.count);
        decide(options, &census, all, stays);
        rc = keep_versions(store, &census, stays, err);
    }
    if (rc == ERROR_NONE)
        rc = remove_rest(options, store, &census, stays, &json, &freed, err);
    if (rc == ERROR_NONE)
        rc = answer(options, &freed, &json, err);
    memory_free(all);
    memory_free(stays);
    json_writer_release(&json);
    store_census_release(&census);
    return rc;
}

/* The folder's lock keeps `graphmill run` away meanwhile; a dry run reads alone. */
static enum error_code open_folder(const struct gc_options *options, const char *path,
                                   struct run_folder *folder, struct error *err)
{
    enum error_code rc = run_folder_open_store(folder, path, STORE_READ_ONLY, err);
    if (rc != ERROR_NONE || options->dry_run)
        return rc;
    const char *own = strncmp(folder->store_uri, "dir:", strlen("dir:")) == 0
                          ? folder->store_uri + strlen("dir:")
                          : "";
    const bool is_run_folder = folder->path[0] && strcmp(own, folder->path) != 0;
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
               "RUN is the folder of runs of one pipeline, or a store that nobody works on "
               "meanwhile.\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill gc takes one run's folder");
    if (rc == ERROR_NONE)
        rc = open_folder(&options, rest.item[0], &folder, err);
    if (rc == ERROR_NONE)
        rc = collect(&options, folder.store, err);
    run_folder_close(&folder);
    return rc;
}
