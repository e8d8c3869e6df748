#include "common/formats/text/feature_scaling.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_SIZE_MAX = 1 << 30, LINE_SIZE = 80 };

static const char type_word[] = "type", least_word[] = "least", header[] = "mean,deviation";

void feature_scaling_release(struct feature_scaling *scaling)
{
    memory_free(scaling->mean);
    memory_free(scaling->deviation);
    *scaling = (struct feature_scaling){0};
}

struct cursor {
    const char *path, *type; /* of the file; the type that is wanted */
    const char *at, *end;
    int64_t line;
    struct feature_scaling section; /* the current section */
    size_t mean_capacity, deviation_capacity;
    bool is_open;    /* there is a current section */
    bool is_wanted;  /* it is the wanted one */
    bool in_columns; /* its lines of columns have begun */
    bool was_there;  /* the wanted section was complete */
};

/* Splits the next line into two fields; returns false at the end. */
static bool next_line(struct cursor *cursor, const char *field[2], size_t size[2])
{
    if (cursor->at == cursor->end)
        return false;
    const char *stop = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
    const char *line_end = stop ? stop : cursor->end;
    const char *comma = memchr(cursor->at, ',', (size_t)(line_end - cursor->at));
    field[0] = cursor->at;
    size[0] = (size_t)((comma ? comma : line_end) - cursor->at);
    field[1] = comma ? comma + 1 : line_end;
    size[1] = (size_t)(line_end - field[1]);
    cursor->at = stop ? stop + 1 : cursor->end;
    cursor->line++;
    return true;
}

static enum error_code take_number(const struct cursor *cursor, const char *what, const char *text,
                                   size_t size, double *out, struct error *err)
{
    if (text_double(text, size, out) && isfinite(*out))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": %s: expected a number, found '%.*s'",
                     cursor->path, cursor->line, what, size < 40 ? (int)size : 40, text);
}

static enum error_code take_column(struct cursor *cursor, const char *const field[2],
                                   const size_t size[2], struct error *err)
{
    struct feature_scaling *out = &cursor->section;
    const size_t wanted = (size_t)out->dim + 1;
    enum error_code rc =
        memory_grow(&out->mean, &cursor->mean_capacity, wanted, "means of columns", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&out->deviation, &cursor->deviation_capacity, wanted,
                         "deviations of columns", err);
    if (rc == ERROR_NONE)
        rc = take_number(cursor, "mean", field[0], size[0], &out->mean[out->dim], err);
    if (rc == ERROR_NONE)
        rc = take_number(cursor, "deviation", field[1], size[1], &out->deviation[out->dim], err);
    if (rc == ERROR_NONE && out->deviation[out->dim] < 0)
        rc = error_set(err, ERROR_INPUT, "%s:%" PRId64 ": deviation: expected 0 or more, found %g",
                       cursor->path, cursor->line, out->deviation[out->dim]);
    out->dim += rc == ERROR_NONE;
    return rc;
}

/* Ends a section, which is now complete; it is kept if it is the wanted one. */
static enum error_code end_section(struct cursor *cursor, struct feature_scaling *out,
                                   struct error *err)
{
    if (!cursor->is_open)
        return ERROR_NONE;
    if (!cursor->section.has_least && !cursor->section.dim)
        return error_set(err, ERROR_INPUT,
                         "%s: expected '%s,' and a number, or '%s', found neither", cursor->path,
                         least_word, header);
    if (cursor->is_wanted)
        *out = cursor->section;
    else
        feature_scaling_release(&cursor->section);
    cursor->was_there |= cursor->is_wanted;
    cursor->section = (struct feature_scaling){0};
    cursor->mean_capacity = cursor->deviation_capacity = 0;
    cursor->in_columns = cursor->is_open = false;
    return ERROR_NONE;
}

static enum error_code begin_type(struct cursor *cursor, const char *name, size_t size,
                                  struct feature_scaling *out, struct error *err)
{
    const int shown = size < 60 ? (int)size : 60;
    if (!cursor->type)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a graph without relations, found type '%.*s'",
                         cursor->path, cursor->line, shown, name);
    const enum error_code rc = end_section(cursor, out, err);
    cursor->is_open = true;
    cursor->is_wanted = size == strlen(cursor->type) && memcmp(name, cursor->type, size) == 0;
    if (rc == ERROR_NONE && cursor->is_wanted && cursor->was_there)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": type '%.*s' is there twice",
                         cursor->path, cursor->line, shown, name);
    return rc;
}

static bool is_word(const char *word, const char *text, size_t size)
{
    return size == strlen(word) && memcmp(text, word, size) == 0;
}

static enum error_code take_line(struct cursor *cursor, const char *const field[2],
                                 const size_t size[2], struct feature_scaling *out,
                                 struct error *err)
{
    const size_t line_size = (size_t)(field[1] - field[0]) + size[1];
    if (is_word(type_word, field[0], size[0]))
        return begin_type(cursor, field[1], size[1], out, err);
    if (!cursor->is_open)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected '%s,' and the name of a node type, found '%.*s'",
                         cursor->path, cursor->line, type_word,
                         line_size < 40 ? (int)line_size : 40, field[0]);
    if (cursor->in_columns)
        return take_column(cursor, field, size, err);
    if (is_word(least_word, field[0], size[0]) && !cursor->section.has_least) {
        cursor->section.has_least = true;
        return take_number(cursor, least_word, field[1], size[1], &cursor->section.least, err);
    }
    cursor->in_columns = is_word(header, field[0], line_size);
    return cursor->in_columns
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected '%s,' and a number, or '%s', found '%.*s'",
                           cursor->path, cursor->line, least_word, header,
                           line_size < 40 ? (int)line_size : 40, field[0]);
}

/* Parses the file. Without types it is one section. */
static enum error_code parse(struct cursor *cursor, struct feature_scaling *out, struct error *err)
{
    const char *field[2];
    size_t size[2];
    enum error_code rc = ERROR_NONE;
    cursor->is_open = cursor->is_wanted = !cursor->type;
    while (rc == ERROR_NONE && next_line(cursor, field, size))
        rc = take_line(cursor, field, size, out, err);
    if (rc == ERROR_NONE)
        rc = end_section(cursor, out, err);
    feature_scaling_release(&cursor->section);
    return rc;
}

enum error_code feature_scaling_read(const char *path, const char *type,
                                     struct feature_scaling *out, struct error *err)
{
    char *data = NULL;
    size_t size = 0;
    *out = (struct feature_scaling){0};
    enum error_code rc = file_read(path, FILE_SIZE_MAX, &data, &size, err);
    if (rc == ERROR_NONE) {
        struct cursor cursor = {.path = path, .type = type, .at = data, .end = data + size};
        rc = parse(&cursor, out, err);
    }
    memory_free(data);
    if (rc != ERROR_NONE)
        feature_scaling_release(out);
    return rc;
}

/* Prints a section. Returns the used part of `room` bytes. */
static size_t print_section(const struct feature_scaling *scaling, char *text, size_t at,
                            size_t room)
{
    if (scaling->type)
        at += (size_t)snprintf(text + at, room - at, "%s,%s\n", type_word, scaling->type);
    if (scaling->has_least)
        at += (size_t)snprintf(text + at, room - at, "%s,%.17g\n", least_word, scaling->least);
    if (scaling->dim)
        at += (size_t)snprintf(text + at, room - at, "%s\n", header);
    for (uint32_t c = 0; c < scaling->dim; c++)
        at += (size_t)snprintf(text + at, room - at, "%.17g,%.17g\n", scaling->mean[c],
                               scaling->deviation[c]);
    return at;
}

enum error_code feature_scaling_text(const struct feature_scaling *scaling, size_t count,
                                     char **out, size_t *size, struct error *err)
{
    size_t at = 0, room = 1;
    for (size_t i = 0; i < count; i++)
        room += ((size_t)scaling[i].dim + 3) * LINE_SIZE +
                (scaling[i].type ? strlen(scaling[i].type) : 0);
    const enum error_code rc = memory_new(out, room, "statistics of columns", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++)
        at = print_section(&scaling[i], *out, at, room);
    *size = at;
    return ERROR_NONE;
}

enum error_code feature_scaling_write(const char *path, const struct feature_scaling *scaling,
                                      size_t count, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = feature_scaling_text(scaling, count, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, size, false, err);
    memory_free(text);
    return rc;
}
