#include "stages/ingest/formats/folders/unread_files.h"

#include "common/base/text.h"
#include "common/files/file.h"
#include "stages/ingest/formats/folders/folder_meta.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 256 };

/* Writes the name without its endings, in the form in which names are compared. */
static void plain_stem(const char *name, char stem[NAME_SIZE])
{
    static const char *const endings[] = {".gz",  ".zst", ".zip", ".csv",     ".tsv", ".txt",
                                          ".npy", ".npz", ".pt",  ".parquet", ".json"};
    (void)snprintf(stem, NAME_SIZE, "%s", name);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
            if (input_files_ends_in(stem, endings[i]))
                stem[strlen(stem) - strlen(endings[i])] = '\0';
    for (char *at = stem; *at; at++)
        *at = (char)(*at == '_' || *at == ' ' ? '-' : tolower((unsigned char)*at));
}

static bool is_read(const struct known_file *known, const char *name)
{
    const size_t size = strlen(known->stem);
    if (strncmp(name, known->stem, size) != 0)
        return false;
    for (int i = 0; i < 4 && known->endings[i]; i++)
        if (strcmp(name + size, known->endings[i]) == 0)
            return true;
    return false;
}

static bool is_meant(const struct known_file *known, const char *stem)
{
    char own[NAME_SIZE];
    plain_stem(known->stem, own);
    if (strcmp(stem, own) == 0)
        return true;
    for (int i = 0; i < 10 && known->aliases[i]; i++)
        if (strcmp(stem, known->aliases[i]) == 0)
            return true;
    return false;
}

struct survey { /* the state of one run */
    const char *folder;
    const struct known_file *known;
    bool draws_splits, has_relations;
    const struct folder_meta *meta; /* NULL: no types */
    unread_visitor visit;
    void *context;
};

/* Returns whether the file has the features of one node type: <type>-feat.npy, or
 * <type>-feat_indptr.npy and so on. */
static bool is_of_type(const struct survey *survey, const char *name)
{
    static const char *const endings[] = {"-feat.npy", "-feat_indptr.npy", "-feat_indices.npy",
                                          "-feat_values.npy"};
    for (uint32_t t = 0; survey->meta && t < survey->meta->node_type_count; t++) {
        const char *type = survey->meta->node_type[t].name;
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
            if (strncmp(name, type, strlen(type)) == 0 &&
                strcmp(name + strlen(type), endings[i]) == 0)
                return true;
    }
    return false;
}

/* Returns whether the file is meant to have the features of a type, but under another name:
 * paper-node-feat.npy, paper_features.npy. */
static bool is_meant_of_type(const struct survey *survey, const char *stem, char meant[NAME_SIZE])
{
    static const struct known_file features = {"node-feat", {".npy"}, {FEATURE_ALIASES}};
    for (uint32_t t = 0; survey->meta && t < survey->meta->node_type_count; t++) {
        char type[NAME_SIZE];
        plain_stem(survey->meta->node_type[t].name, type);
        const size_t size = strlen(type);
        if (strncmp(stem, type, size) != 0 || stem[size] != '-' ||
            !is_meant(&features, stem + size + 1))
            continue;
        (void)snprintf(meant, NAME_SIZE, "%s-feat.npy", survey->meta->node_type[t].name);
        return true;
    }
    return false;
}

static bool is_split(const struct known_file *known)
{
    return strcmp(known->stem, "train") == 0 || strcmp(known->stem, "valid") == 0 ||
           strcmp(known->stem, "test") == 0;
}

/* Returns whether the file is read only if relations stay apart. */
static bool is_of_relations(const struct known_file *known)
{
    return strcmp(known->stem, "relations") == 0;
}

/* Returns whether nobody would take the file for data. */
static bool is_silent(const char *name)
{
    static const char *const beginnings[] = {".", "README", "LICENSE", "readme", "RELEASE"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static enum error_code look_at(void *context, const char *name, struct error *err)
{
    const struct survey *survey = context;
    char stem[NAME_SIZE], meant[NAME_SIZE] = "", path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_path(path, err, "%s/%s", survey->folder, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    plain_stem(name, stem);
    if (rc != ERROR_NONE || kind == FILE_FOLDER || is_silent(name) || is_of_type(survey, name))
        return rc;
    for (const struct known_file *known = survey->known; known->stem; known++)
        if (is_read(known, name) && !(survey->draws_splits && is_split(known)) &&
            (survey->has_relations || !is_of_relations(known)))
            return ERROR_NONE;
    for (const struct known_file *known = survey->known; known->stem && !meant[0]; known++)
        if (is_meant(known, stem) && !(survey->draws_splits && is_split(known)))
            (void)snprintf(meant, sizeof meant, "%s%s", known->stem, known->endings[0]);
    if (!meant[0])
        (void)is_meant_of_type(survey, stem, meant);
    survey->visit(survey->context, name, meant[0] ? meant : NULL);
    return ERROR_NONE;
}

enum error_code unread_files_visit(const struct pipeline_settings *settings, unread_visitor visit,
                                   void *context, struct error *err)
{
    static struct folder_meta meta; /* too large for the stack */
    const struct input_format *format = input_format_of(settings);
    char folder[FILE_PATH_SIZE];
    struct split_shares shares;
    if (!format->known)
        return ERROR_NONE;
    enum error_code rc = file_path(folder, err, "%s%s", settings->ingest.path, format->known_below);
    if (rc == ERROR_NONE)
        rc = pipeline_split_shares(settings, &shares, err);
    if (rc == ERROR_NONE && format->has_meta)
        rc = folder_meta_read(folder, &meta, err);
    if (rc != ERROR_NONE)
        return rc;
    struct survey survey = {.folder = folder,
                            .known = format->known,
                            .draws_splits = shares.is_random,
                            .has_relations =
                                settings->ingest.relations || !pipeline_reads_targets(settings),
                            .meta = format->has_meta ? &meta : NULL,
                            .visit = visit,
                            .context = context};
    return file_list(folder, look_at, &survey, err);
}
