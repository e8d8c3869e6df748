#include "stages/plan/format_detect.h"

#include "common/base/file.h"
#include "common/base/file_pattern.h"
#include "common/base/memory.h"
#include "common/formats/file_kind.h"
#include "stages/plan/setting_table.h"

#include <stdio.h>
#include <string.h>

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
                                           {"node.dat", FORMAT_HGB, "hgb"},
                                           {"train2id.txt", FORMAT_OPENKE, "openke"},
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
            "(graphsaint), a file NAME_A.txt (tu), node.dat (hgb), train2id.txt (openke) or a "
            "folder raw (ogb), or one file as ingest.path",
            path);
    if (look.other)
        return error_set(err, ERROR_INPUT,
                         "%s: ingest.format is auto, but %s says %s and %s says %s: " ADVICE
                         "write "
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

/* What one file is called, where its first bytes do not say what it is. */
static const struct {
    enum ingest_format format;
    const char *format_name;
    const char *const endings[4];
} names[] = {
    {FORMAT_GRAPHML, "graphml", {".graphml", ".graphml.gz", ".graphml.zst"}},
    {FORMAT_MATRIX_MARKET, "matrix_market", {".mtx", ".mtx.gz", ".mtx.zst"}},
    {FORMAT_METIS, "metis", {".graph", ".metis"}},
    {FORMAT_NTRIPLES, "ntriples", {".nt", ".nt.gz", ".nt.zst"}},
    {FORMAT_SIF, "sif", {".sif", ".sif.gz", ".sif.zst"}},
};

/* The format of a file of a known kind. The names are those of the choices of ingest.format. */
static enum ingest_format format_named(const char *name)
{
    const struct setting_spec *spec = setting_row(setting_table, "ingest.format");
    for (int i = 0; spec->choices[i]; i++)
        if (strcmp(spec->choices[i], name) == 0)
            return (enum ingest_format)i;
    must(false);
    return FORMAT_AUTO;
}

static enum error_code detect_file(const char *path, int64_t *format, char *seen, struct error *err)
{
    char first[FILE_KIND_BYTES];
    size_t got = 0;
    const enum error_code rc = file_kind_peek(path, NULL, 0, first, sizeof first, &got, err);
    const struct kind_of_file *kind = rc == ERROR_NONE ? file_kind_find(first, got) : NULL;
    if (rc != ERROR_NONE)
        return rc;
    if (kind && kind->format) {
        *format = format_named(kind->format);
        (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s is %s, so it is read as %s", path, kind->name,
                       kind->format);
        return ERROR_NONE;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_called(path, names[i].endings)) {
            *format = names[i].format;
            (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s is called so, so it is read as %s", path,
                           names[i].format_name);
            return ERROR_NONE;
        }
    if (kind)
        return file_kind_refuse(kind, path, "edges", err);
    *format = FORMAT_EDGE_LIST;
    (void)snprintf(seen, FORMAT_SEEN_SIZE,
                   "%s is none of the other formats of one file, so it is read as edge_list", path);
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
