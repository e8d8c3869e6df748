#include "stages/plan/settings/format_detect.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/files/file_pattern.h"
#include "common/formats/bytes/file_kind.h"
#include "stages/plan/settings/dataset_format.h"

#include <stdio.h>
#include <string.h>

enum { SIGNS_SIZE = 1024 };

static bool ends_with(const char *name, const char *ending)
{
    const size_t size = strlen(name), length = strlen(ending);
    return size > length && strcmp(name + size - length, ending) == 0;
}

static int64_t place_of(const struct dataset_format *format)
{
    return format - dataset_formats;
}

/* Returns the format of tables of edges, which any text file may be. */
static const struct dataset_format *table_format(void)
{
    const struct dataset_format *format = dataset_formats;
    while (!(format->traits & FORMAT_IS_TABLE))
        format++;
    return format;
}

/* --- folders --- */

struct look {
    const struct dataset_format *found, *other; /* the first format found, and another one */
    char name[128];                             /* of the file that shows the first format */
};

static bool is_sign_of(const struct dataset_format *format, const char *name)
{
    return format->sign && (format->sign[0] == '*' ? ends_with(name, format->sign + 1)
                                                   : strcmp(name, format->sign) == 0);
}

static enum error_code look_at(void *context, const char *name, struct error *err)
{
    struct look *look = context;
    (void)err;
    for (const struct dataset_format *format = dataset_formats; format->name; format++) {
        const bool fits = is_sign_of(format, name);
        if (fits && look->found && look->found != format)
            look->other = format;
        if (!fits || look->found)
            continue;
        look->found = format;
        (void)snprintf(look->name, sizeof look->name, "%s", name);
    }
    return ERROR_NONE;
}

/* Lists the signs: "meta.json (folder), a folder raw (ogb) or node.dat (hgb)". */
static void list_signs(char *out, size_t size)
{
    size_t at = 0;
    int left = 0;
    for (const struct dataset_format *format = dataset_formats; format->name; format++)
        left += format->sign != NULL;
    for (const struct dataset_format *format = dataset_formats; format->name; format++) {
        const char *sign = format->sign_text ? format->sign_text : format->sign;
        if (!sign)
            continue;
        const char *between = --left > 1 ? ", " : " or ";
        at += (size_t)snprintf(out + at, size - at, "%s (%s)%s", sign, format->name,
                               left ? between : "");
        must(at < size);
    }
}

static enum error_code detect_folder(const char *path, int64_t *format, char *seen,
                                     struct error *err)
{
    struct look look = {0};
    char known[SIGNS_SIZE];
    const enum error_code rc = file_list(path, look_at, &look, err);
    if (rc != ERROR_NONE)
        return rc;
    list_signs(known, sizeof known);
    if (!look.found)
        return error_set(err, ERROR_INPUT,
                         "%s: ingest.format is auto, and nothing in this folder shows its format: "
                         "expected %s, or one file as ingest.path",
                         path, known);
    if (look.other)
        return error_set(err, ERROR_INPUT,
                         "%s: ingest.format is auto, but %s says %s and %s says %s: " ADVICE
                         "write "
                         "`format: %s` or `format: %s` below `ingest:`",
                         path, look.name, look.found->name, look.other->sign, look.other->name,
                         look.found->name, look.other->name);
    *format = place_of(look.found);
    (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s has %s, so it is read as %s", path, look.name,
                   look.found->name);
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

/* Detects the format by the first bytes or, if they are not known, by the name. */
static enum error_code detect_file(const char *path, int64_t *format, char *seen, struct error *err)
{
    char first[FILE_KIND_BYTES];
    size_t got = 0;
    const enum error_code rc = file_kind_peek(path, NULL, 0, first, sizeof first, &got, err);
    const struct kind_of_file *kind = rc == ERROR_NONE ? file_kind_find(first, got) : NULL;
    if (rc != ERROR_NONE)
        return rc;
    if (kind && kind->format) {
        *format = dataset_format_find(kind->format);
        (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s is %s, so it is read as %s", path, kind->name,
                       kind->format);
        return ERROR_NONE;
    }
    for (const struct dataset_format *named = dataset_formats; named->name; named++)
        if (is_called(path, named->endings)) {
            *format = place_of(named);
            (void)snprintf(seen, FORMAT_SEEN_SIZE, "%s is called so, so it is read as %s", path,
                           named->name);
            return ERROR_NONE;
        }
    if (kind)
        return file_kind_refuse(kind, path, "edges", err);
    *format = place_of(table_format());
    (void)snprintf(seen, FORMAT_SEEN_SIZE,
                   "%s is none of the other formats of one file, so it is read as %s", path,
                   table_format()->name);
    return ERROR_NONE;
}

struct first_file {
    int64_t format;
    char *seen;
};

/* Detects the format of several files by the first one, and refuses any but tables of edges. */
static enum error_code detect_one(void *context, const char *path, size_t index, struct error *err)
{
    struct first_file *first = context;
    enum file_kind kind = FILE_ABSENT;
    if (index == 1 && !(dataset_formats[first->format].traits & FORMAT_IS_TABLE))
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
    struct first_file first = {.format = *format};
    first.seen = seen;
    const enum error_code rc = file_pattern_visit(path, detect_one, &first, err);
    *format = first.format;
    return rc;
}

/* Refuses lists of files, except edges as text and tables of nodes beside them. */
static enum error_code check_lists(const struct pipeline_settings *settings, struct error *err)
{
    const char *features = settings->ingest.features.path, *at = NULL, *item = NULL;
    size_t size = 0;
    if (file_pattern_is_list(settings->ingest.path) &&
        !dataset_format_has(settings, FORMAT_IS_TABLE))
        return error_set(err, ERROR_INVALID,
                         "ingest.path is a list, and ingest.format is %s: expected one file or "
                         "folder, or `format: %s`",
                         dataset_format_of(settings)->name, table_format()->name);
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
    if (dataset_format_has(settings, FORMAT_IS_AUTO))
        rc = format_detect(settings->ingest.path, &(*out)->ingest.format, seen, err);
    if (rc == ERROR_NONE)
        rc = check_lists(*out, err);
    return rc == ERROR_NONE && dataset_format_has(settings, FORMAT_IS_AUTO)
               ? pipeline_settings_check_format(*out, err)
               : rc;
}
