#include "stages/ingest/formats/format_detect.h"

#include "common/base/file.h"
#include "common/base/file_pattern.h"
#include "common/base/memory.h"
#include "stages/plan/setting_table.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_BYTES = 16 };

static bool ends_with(const char *name, const char *ending)
{
    const size_t size = strlen(name), length = strlen(ending);
    return size > length && strcmp(name + size - length, ending) == 0;
}

/* --- folders --- */

struct folder_sign {
    const char *name; /* of a file or folder in it; of a file: or its ending, behind a star */
    enum ingest_format format;
    const char *format_name;
};
static const struct folder_sign signs[] = {{"meta.json", FORMAT_FOLDER, "folder"},
                                           {"metadata.yaml", FORMAT_GRAPHBOLT, "graphbolt"},
                                           {"metadata.json", FORMAT_DISTDGL, "distdgl"},
                                           {"meta.yaml", FORMAT_DGL_CSV, "dgl_csv"},
                                           {"*.content", FORMAT_LINQS, "linqs"},
                                           {"adj_full.npz", FORMAT_GRAPHSAINT, "graphsaint"},
                                           {"*_A.txt", FORMAT_TU, "tu"},
                                           {"raw", FORMAT_OGB, "ogb"}};
enum { SIGNS = sizeof signs / sizeof *signs };

struct look {
    const struct folder_sign *found, *other; /* the first, and one of another format */
    char name[128];                          /* of the first */
};

static enum error_code look_at(void *context, const char *name, struct error *err)
{
    struct look *look = context;
    (void)err;
    for (int i = 0; i < SIGNS; i++) {
        const bool fits = signs[i].name[0] == '*' ? ends_with(name, signs[i].name + 1)
                                                  : strcmp(name, signs[i].name) == 0;
        if (fits && look->found && look->found != &signs[i])
            look->other = &signs[i];
        if (!fits || look->found)
            continue;
        look->found = &signs[i];
        (void)snprintf(look->name, sizeof look->name, "%s", name);
    }
    return ERROR_NONE;
}

static enum error_code detect_folder(const char *path, int64_t *format, char *seen,
                                     struct error *err)
{
    struct look look = {0};
    const enum error_code rc = file_list(path, look_at, &look, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!look.found)
        return error_set(
            err, ERROR_INPUT,
            "%s: ingest.format is auto, and nothing in this folder says what it is: "
            "expected meta.json (folder), metadata.yaml (graphbolt), "
            "metadata.json (distdgl), meta.yaml (dgl_csv), *.content (linqs), adj_full.npz "
            "(graphsaint), a file NAME_A.txt (tu) or a folder raw (ogb), or one file "
            "as ingest.path",
            path);
    if (look.other)
        return error_set(err, ERROR_INPUT,
                         "%s: ingest.format is auto, but %s says %s and %s says %s: write "
                         "`format: %s` or `format: %s` below `ingest:`",
                         path, look.name, look.found->format_name, look.other->name,
                         look.other->format_name, look.found->format_name, look.other->format_name);
    *format = look.found->format;
    (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s has %s, so it is read as %s", path, look.name,
                   look.found->format_name);
    return ERROR_NONE;
}

/* --- files --- */

static bool is_called(const char *path, const char *const *endings)
{
    for (; *endings; endings++)
        if (ends_with(path, *endings))
            return true;
    return false;
}

static enum error_code detect_file(const char *path, int64_t *format, char *seen, struct error *err)
{
    static const char zip[] = "PK\003\004", market[] = "%%MatrixMarket", numpy[] = "\223NUMPY";
    static const char *const market_names[] = {".mtx", ".mtx.gz", ".mtx.zst", NULL};
    static const char *const graphml_names[] = {".graphml", ".graphml.gz", ".graphml.zst", NULL};
    static const char *const metis_names[] = {".graph", ".metis", NULL};
    char first[FIRST_BYTES] = {0};
    const char *word = "edge_list", *why = "is none of the other formats of one file";
    size_t got = 0;
    const enum error_code rc = file_read_range(path, 0, first, sizeof first, &got, err);
    if (rc != ERROR_NONE)
        return rc;
    if (memcmp(first, numpy, sizeof numpy - 1) == 0)
        return error_set(err, ERROR_INPUT,
                         "%s: ingest.format is auto, and this is one array: expected a folder that "
                         "has it as edges.npy beside meta.json (format folder)",
                         path);
    *format = FORMAT_EDGE_LIST;
    if (memcmp(first, zip, sizeof zip - 1) == 0) {
        *format = FORMAT_NPZ;
        word = "npz";
        why = "is a zip archive";
    } else if (memcmp(first, market, sizeof market - 1) == 0 || is_called(path, market_names)) {
        *format = FORMAT_MATRIX_MARKET;
        word = "matrix_market";
        why = "begins or is called so";
    } else if (is_called(path, graphml_names)) {
        *format = FORMAT_GRAPHML;
        word = "graphml";
        why = "is called so";
    } else if (is_called(path, metis_names)) {
        *format = FORMAT_METIS;
        word = "metis";
        why = "is called so";
    }
    (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s %s, so it is read as %s", path, why, word);
    return ERROR_NONE;
}

struct first_file {
    int64_t format;
    char *seen;
};

/* The first of several files says what they are; only edges of text may be several. */
static enum error_code detect_one(void *context, const char *path, size_t index, struct error *err)
{
    struct first_file *first = context;
    enum file_kind kind = FILE_ABSENT;
    if (index == 1 && first->format != FORMAT_EDGE_LIST)
        return error_set(
            err, ERROR_INPUT,
            "ingest.path: %s, and %s is another: expected one file or folder of such a "
            "format",
            first->seen, path);
    if (index > 0)
        return ERROR_NONE;
    const enum error_code rc = file_look(path, &kind, err);
    if (rc != ERROR_NONE)
        return rc;
    if (kind == FILE_ABSENT)
        return error_set(err, ERROR_NOT_FOUND, "ingest.path: %s is not there", path);
    return kind == FILE_FOLDER ? detect_folder(path, &first->format, first->seen, err)
                               : detect_file(path, &first->format, first->seen, err);
}

enum error_code format_detect(const char *path, int64_t *format, char seen[FORMAT_SEEN_SIZE],
                              struct error *err)
{
    struct first_file first = {.format = FORMAT_AUTO};
    first.seen = seen;
    const enum error_code rc = file_pattern_visit(path, detect_one, &first, err);
    *format = first.format;
    return rc;
}

/* Edges of text may lie in several files, and tables of nodes beside them; arrays may not. */
static enum error_code check_lists(const struct pipeline_settings *settings, struct error *err)
{
    const char *features = settings->ingest.features.path, *at = NULL, *item = NULL;
    char format[SETTING_NAME_SIZE];
    size_t size = 0;
    (void)setting_print(setting_row(setting_table, "ingest.format"), settings, format,
                        sizeof format);
    if (file_pattern_is_list(settings->ingest.path) && settings->ingest.format != FORMAT_EDGE_LIST)
        return error_set(err, ERROR_INVALID,
                         "ingest.path is a list, and ingest.format is %s: expected one file or "
                         "folder, or `format: edge_list`",
                         format);
    while (file_pattern_is_list(features) && file_pattern_next(features, &at, &item, &size))
        if (size > 4 && memcmp(item + size - 4, ".npy", 4) == 0)
            return error_set(err, ERROR_INVALID,
                             "ingest.features lists '%.*s': expected tables of text, or one .npy "
                             "file",
                             size < 200 ? (int)size : 200, item);
    return ERROR_NONE;
}

enum error_code format_settle(const struct pipeline_settings *settings,
                              struct pipeline_settings **out, char seen[FORMAT_SEEN_SIZE],
                              struct error *err)
{
    enum error_code rc = memory_new(out, 1, "settings", err);
    seen[0] = '\0';
    if (rc != ERROR_NONE)
        return rc;
    **out = *settings;
    if (settings->ingest.format == FORMAT_AUTO)
        rc = format_detect(settings->ingest.path, &(*out)->ingest.format, seen, err);
    if (rc == ERROR_NONE)
        rc = check_lists(*out, err);
    return rc == ERROR_NONE && settings->ingest.format == FORMAT_AUTO
               ? pipeline_settings_check_format(*out, err)
               : rc;
}
