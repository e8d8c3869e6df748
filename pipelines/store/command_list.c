/*
 * list - lists the runs of a folder or of a store, with their progress, scores and sizes.
 */
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "pipelines/store/store_census.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct list_options {
    bool all, json;
};

/* clang-format off */
#define AT(field) offsetof(struct list_options, field)
static const struct option_spec option_table[] = {
    {"all", OPTION_FLAG, AT(all), NULL, 0, 0, NULL, "also list their partitions and datasets"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

struct listing {
    const struct list_options *options;
    struct json_writer *json; /* NULL: print lines */
    const char *folder;       /* the folder that is being listed */
    int64_t entries;
};

static const char *when(int64_t seconds, char text[24])
{
    const time_t at = (time_t)seconds;
    struct tm local = {0};
    if (seconds == 0 || !localtime_r(&at, &local) ||
        strftime(text, 24, "%Y-%m-%d %H:%M", &local) == 0)
        (void)snprintf(text, 24, "-");
    return text;
}

static void print_entry(const char *folder, const struct census_entry *entry)
{
    char size[32] = "-", date[24], score[64] = "", rounds[48] = "";
    if (entry->bytes)
        (void)text_size(entry->bytes, size);
    if (entry->metric < METRIC_COUNT)
        (void)snprintf(score, sizeof score, "%s %s %.4f", entry->score_split,
                       metric_table[entry->metric].title, entry->score);
    if (entry->kind == CENSUS_RUN)
        (void)snprintf(rounds, sizeof rounds, "%" PRId64 "/%" PRId64, entry->rounds,
                       entry->round_count);
    printf("%-16s  %-20s %-34s %-9s %11s %10s  %s\n", when(entry->seconds, date), folder, entry->id,
           entry->kind == CENSUS_RUN ? census_state_name[entry->state]
                                     : census_kind_name[entry->kind],
           rounds, size, score);
}

static void put_entry(struct json_writer *json, const char *folder,
                      const struct census_entry *entry)
{
    json_open_object(json, NULL);
    json_put_string(json, "folder", folder);
    json_put_string(json, "kind", census_kind_name[entry->kind]);
    json_put_string(json, "id", entry->id);
    json_put_int64(json, "bytes", (int64_t)entry->bytes);
    json_put_int64(json, "begun", entry->seconds);
    if (entry->kind == CENSUS_RUN) {
        json_put_string(json, "state", census_state_name[entry->state]);
        json_put_bool(json, "newest", entry->is_newest);
        json_put_int64(json, "rounds", entry->rounds);
        json_put_int64(json, "round_count", entry->round_count);
    }
    if (entry->metric < METRIC_COUNT) {
        json_put_string(json, "split", entry->score_split);
        json_put_string(json, "metric", metric_table[entry->metric].name);
        json_put_double(json, "score", entry->score);
    }
    json_put_string(json, "stands_on", entry->stands_on);
    json_close_object(json);
}

static enum error_code list_store(struct listing *listing, const char *path, struct error *err)
{
    static struct run_folder folder;
    struct store_census census = {0};
    enum error_code rc = run_folder_open_store(&folder, path, STORE_READ_ONLY, err);
    if (rc == ERROR_NONE)
        rc = store_census_read(folder.store, &census, err);
    for (size_t i = 0; rc == ERROR_NONE && i < census.count; i++) {
        const struct census_entry *entry = &census.entry[i];
        if (entry->kind != CENSUS_RUN && !listing->options->all)
            continue;
        listing->entries++;
        if (listing->json)
            put_entry(listing->json, path, entry);
        else
            print_entry(path, entry);
    }
    store_census_release(&census);
    run_folder_close(&folder);
    return rc;
}

/* Finds out whether a folder has a store. The folder of a run has store/ or store.uri; a store has
 * the folders of runs, datasets or partitions. */
static enum error_code has_store(const char *path, bool *found, struct error *err)
{
    static const char *const marks[] = {"store", "store.uri", "identity.record", "run"};
    char inner[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    *found = false;
    for (size_t i = 0; rc == ERROR_NONE && !*found && i < sizeof marks / sizeof *marks; i++) {
        rc = file_path(inner, err, "%s/%s", path, marks[i]);
        if (rc == ERROR_NONE)
            rc = file_is_there(inner, found, err);
    }
    return rc;
}

static enum error_code visit_folder(void *context, const char *name, struct error *err)
{
    struct listing *listing = context;
    char path[FILE_PATH_SIZE];
    bool found = false;
    enum error_code rc = file_path(path, err, "%s/%s", listing->folder, name);
    if (rc == ERROR_NONE)
        rc = has_store(path, &found, err);
    return rc == ERROR_NONE && found ? list_store(listing, path, err) : rc;
}

static enum error_code list_folder(struct listing *listing, const char *path, struct error *err)
{
    bool found = store_is_uri(path);
    enum error_code rc = found ? ERROR_NONE : has_store(path, &found, err);
    if (rc != ERROR_NONE || found)
        return rc == ERROR_NONE ? list_store(listing, path, err) : rc;
    listing->folder = path;
    rc = file_list(path, visit_folder, listing, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "%s: there is no such folder; graphmill list FOLDER", path);
    return rc;
}

static enum error_code list_all(const struct list_options *options, const struct option_list *word,
                                struct error *err)
{
    static const char *const usual = "runs";
    struct json_writer json = {0};
    struct listing listing = {.options = options, .json = options->json ? &json : NULL};
    enum error_code rc = ERROR_NONE;
    if (options->json)
        json_open_array(&json, NULL);
    for (int i = 0; rc == ERROR_NONE && i < (word->count ? word->count : 1); i++)
        rc = list_folder(&listing, word->count ? word->item[i] : usual, err);
    if (rc == ERROR_NONE && options->json) {
        json_close_array(&json);
        return json_writer_print(&json, err);
    }
    json_writer_release(&json);
    if (rc == ERROR_NONE && listing.entries == 0)
        printf("no runs\n");
    return rc;
}

enum error_code command_list(int argc, char **argv, struct error *err)
{
    struct list_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill list [FOLDER ...] [options] - the runs of a folder, or of a store\n\n"
               "FOLDER is a folder of runs (default: runs), of one run, or a store, or the address "
               "of a "
               "store. A line has: "
               "begun, folder, run,\n"
               "state, rounds, bytes on disk, score.\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    const enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    return rc == ERROR_NONE ? list_all(&options, &rest, err) : rc;
}
