#include "stages/ingest/formats/shared/input_files.h"

#include "common/files/file_pattern.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/plan/settings/dataset_format.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum error_code input_files_find(const char *folder, const char *stem, const char *const *endings,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    char candidate[FILE_PATH_SIZE];
    path[0] = '\0';
    for (; *endings; endings++) {
        bool found = false;
        enum error_code rc = file_path(candidate, err, "%s/%s%s", folder, stem, *endings);
        if (rc == ERROR_NONE)
            rc = file_is_there(candidate, &found, err);
        if (rc != ERROR_NONE)
            return rc;
        if (!found)
            continue;
        if (path[0])
            return error_set(err, ERROR_INPUT,
                             "expected one of %s and %s, found both" ADVISE_ONE_FILE, path,
                             candidate);
        memcpy(path, candidate, sizeof candidate);
    }
    return ERROR_NONE;
}

bool input_files_ends_in(const char *name, const char *ending)
{
    const size_t size = strlen(name), ending_size = strlen(ending);
    return size >= ending_size && strcmp(name + size - ending_size, ending) == 0;
}

struct walk {
    const char *folder;   /* absolute, or in the form that the user gave */
    const char *relative; /* path of `folder` below the input; "" at the top */
    const struct input_format *format;
    struct checksum_stream *sum;
    bool *has_features;
    const struct file_notes *notes;
};

static enum error_code sum_file(const struct file_notes *notes, struct checksum_stream *sum,
                                const char *path, const char *name, struct error *err)
{
    struct checksum content;
    uint64_t size = 0;
    const enum error_code rc = file_note_sum(notes, path, &content, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    checksum_stream_add(sum, name, strlen(name) + 1);
    checksum_stream_add(sum, &size, sizeof size);
    checksum_stream_add(sum, content.bytes, sizeof content.bytes);
    return ERROR_NONE;
}

struct pattern_sum {
    const struct file_notes *notes;
    struct checksum_stream *sum;
    const char *name;
};

static enum error_code sum_one(void *context, const char *path, size_t index, struct error *err)
{
    const struct pattern_sum *pattern = context;
    (void)index;
    return sum_file(pattern->notes, pattern->sum, path, pattern->name, err);
}

/* Adds all files of a pattern under one name: the names of the files do not count, as that of a
 * single file does not. */
static enum error_code sum_pattern(const struct file_notes *notes, struct checksum_stream *sum,
                                   const char *path, const char *name, struct error *err)
{
    struct pattern_sum pattern = {notes, sum, name};
    return file_pattern_visit(path, sum_one, &pattern, err);
}

/* Returns whether a file has an ending of the format; readers read no other files. */
static bool is_data(const struct walk *walk, const char *name)
{
    for (const char *const *ending = walk->format->endings; *ending; ending++)
        if (input_files_ends_in(name, *ending))
            return true;
    return false;
}

static bool is_features(const char *name)
{
    return (input_files_ends_in(name, "-feat.npy") && strcmp(name, "edge-feat.npy") != 0) ||
           input_files_ends_in(name, "feat_indptr.npy") ||
           input_files_ends_in(name, "_node_labels.txt") ||
           input_files_ends_in(name, "_node_attributes.txt") || strcmp(name, "feats.npy") == 0 ||
           input_files_ends_in(name, "node-feat.csv") ||
           input_files_ends_in(name, "node-feat.csv.gz") ||
           input_files_ends_in(name, "node-feat.csv.zst");
}

static enum error_code walk_entry(void *context, const char *name, struct error *err)
{
    struct walk *walk = context;
    char path[FILE_PATH_SIZE], relative[FILE_PATH_SIZE];
    struct stat status;
    enum error_code rc = file_path(path, err, "%s/%s", walk->folder, name);
    if (rc == ERROR_NONE)
        rc = file_path(relative, err, "%s%s", walk->relative, name);
    if (rc != ERROR_NONE)
        return rc;
    if (stat(path, &status) != 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    if (S_ISDIR(status.st_mode)) {
        if (!walk->format->has_folders)
            return ERROR_NONE;
        rc = file_path(relative, err, "%s%s/", walk->relative, name);
        struct walk below = *walk;
        below.folder = path;
        below.relative = relative;
        return rc == ERROR_NONE ? file_list(path, walk_entry, &below, err) : rc;
    }
    if (!is_data(walk, name))
        return ERROR_NONE;
    *walk->has_features |= is_features(name);
    return sum_file(walk->notes, walk->sum, path, relative, err);
}

/* Adds an input of one file, and the files of its nodes. A file beside the input counts under the
 * name of its setting, not under its own. */
static enum error_code sum_file_input(const struct pipeline_settings *settings,
                                      const struct file_notes *notes, struct checksum_stream *sum,
                                      struct error *err)
{
    const char *path = settings->ingest.path;
    const struct {
        const char *setting, *path;
    } beside[] = {{"labels", settings->ingest.labels},
                  {"features", settings->ingest.features.path},
                  {"column_encoding", settings->ingest.column_encoding},
                  {"feature_ids", settings->ingest.feature_ids},
                  {"train", settings->ingest.split_file[0]},
                  {"valid", settings->ingest.split_file[1]},
                  {"test", settings->ingest.split_file[2]}};
    enum error_code rc = sum_pattern(notes, sum, path, "edges", err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof beside / sizeof beside[0]; i++) {
        if (!beside[i].path[0])
            continue;
        rc = sum_pattern(notes, sum, beside[i].path, beside[i].setting, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "ingest.%s", beside[i].setting);
    }
    return rc;
}

/* Adds files of held-out edges, negatives and times of nodes, which any input may have. */
static enum error_code sum_held_edges(const struct pipeline_settings *settings,
                                      const struct file_notes *notes, struct checksum_stream *sum,
                                      struct error *err)
{
    const struct {
        const char *setting, *path;
    } beside[] = {{"valid_edges", settings->ingest.edge_file[1]},
                  {"test_edges", settings->ingest.edge_file[2]},
                  {"train_negatives", settings->ingest.negative_file[0]},
                  {"valid_negatives", settings->ingest.negative_file[1]},
                  {"test_negatives", settings->ingest.negative_file[2]}};
    const size_t count =
        task_has(settings->ingest.task, TASK_LABELS_EDGES) ? 2 : sizeof beside / sizeof *beside;
    enum error_code rc = ERROR_NONE;
    if (settings->ingest.node_times[0])
        rc = sum_file(notes, sum, settings->ingest.node_times, "node_times", err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "ingest.node_times");
    for (size_t i = 0; rc == ERROR_NONE && i < count && !pipeline_reads_targets(settings); i++) {
        if (!beside[i].path[0])
            continue;
        rc = sum_file(notes, sum, beside[i].path, beside[i].setting, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "ingest.%s", beside[i].setting);
    }
    return rc;
}

/* Adds ingest.feature_statistics, which any input may have, too. */
static enum error_code sum_statistics(const struct pipeline_settings *settings,
                                      const struct file_notes *notes, struct checksum_stream *sum,
                                      struct error *err)
{
    const char *path = settings->ingest.feature_statistics;
    const enum error_code rc =
        path[0] ? sum_file(notes, sum, path, "feature_statistics", err) : ERROR_NONE;
    return rc == ERROR_NONE ? rc : error_context(err, rc, "ingest.feature_statistics");
}

enum error_code input_files_sum(const struct pipeline_settings *settings,
                                const struct file_notes *notes, struct checksum_stream *sum,
                                bool *has_features, struct error *err)
{
    const struct input_format *format = input_format_of(settings);
    struct walk walk = {.folder = settings->ingest.path,
                        .relative = "",
                        .format = format,
                        .sum = sum,
                        .has_features = has_features,
                        .notes = notes};
    *has_features = settings->ingest.features.path[0] != '\0';
    enum error_code rc = sum_held_edges(settings, notes, sum, err);
    if (rc == ERROR_NONE)
        rc = sum_statistics(settings, notes, sum, err);
    if (rc != ERROR_NONE || dataset_format_has(settings, FORMAT_IS_GENERATED))
        return rc;
    if (format->is_file)
        return sum_file_input(settings, notes, sum, err);
    return file_list(settings->ingest.path, walk_entry, &walk, err);
}
