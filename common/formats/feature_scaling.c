#include "common/formats/feature_scaling.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_SIZE_MAX = 1 << 30, LINE_SIZE = 80 };

static const char least_word[] = "least", header[] = "mean,deviation";

void feature_scaling_release(struct feature_scaling *scaling)
{
    memory_free(scaling->mean);
    memory_free(scaling->deviation);
    *scaling = (struct feature_scaling){0};
}

struct cursor {
    const char *path;
    const char *at, *end;
    int64_t line;
    size_t mean_capacity, deviation_capacity;
};

/* Two fields of the next line; false at the end. */
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

static enum error_code take_column(struct cursor *cursor, struct feature_scaling *out,
                                   const char *const field[2], const size_t size[2],
                                   struct error *err)
{
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

static enum error_code parse(struct cursor *cursor, struct feature_scaling *out, struct error *err)
{
    const char *field[2];
    size_t size[2];
    bool in_columns = false;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && next_line(cursor, field, size)) {
        const bool is_least =
            size[0] == strlen(least_word) && memcmp(field[0], least_word, size[0]) == 0;
        const size_t line_size = (size_t)(field[1] - field[0]) + size[1];
        if (in_columns) {
            rc = take_column(cursor, out, field, size, err);
        } else if (is_least && !out->has_least) {
            out->has_least = true;
            rc = take_number(cursor, least_word, field[1], size[1], &out->least, err);
        } else if (line_size == strlen(header) && memcmp(field[0], header, line_size) == 0) {
            in_columns = true;
        } else {
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected '%s,' and a number, or '%s', found '%.*s'",
                           cursor->path, cursor->line, least_word, header,
                           line_size < 40 ? (int)line_size : 40, field[0]);
        }
    }
    if (rc == ERROR_NONE && !out->has_least && !out->dim)
        rc = error_set(err, ERROR_INPUT, "%s: expected '%s,' and a number, or '%s', found neither",
                       cursor->path, least_word, header);
    return rc;
}

enum error_code feature_scaling_read(const char *path, struct feature_scaling *out,
                                     struct error *err)
{
    char *data = NULL;
    size_t size = 0;
    *out = (struct feature_scaling){0};
    enum error_code rc = file_read(path, FILE_SIZE_MAX, &data, &size, err);
    if (rc == ERROR_NONE) {
        struct cursor cursor = {.path = path, .at = data, .end = data + size};
        rc = parse(&cursor, out, err);
    }
    memory_free(data);
    if (rc != ERROR_NONE)
        feature_scaling_release(out);
    return rc;
}

enum error_code feature_scaling_write(const char *path, const struct feature_scaling *scaling,
                                      struct error *err)
{
    char *text = NULL;
    size_t at = 0;
    const size_t room = ((size_t)scaling->dim + 2) * LINE_SIZE;
    enum error_code rc = memory_new(&text, room, "statistics of columns", err);
    if (rc != ERROR_NONE)
        return rc;
    if (scaling->has_least)
        at += (size_t)snprintf(text + at, room - at, "%s,%.17g\n", least_word, scaling->least);
    if (scaling->dim)
        at += (size_t)snprintf(text + at, room - at, "%s\n", header);
    for (uint32_t c = 0; c < scaling->dim; c++)
        at += (size_t)snprintf(text + at, room - at, "%.17g,%.17g\n", scaling->mean[c],
                               scaling->deviation[c]);
    rc = file_replace(path, text, at, false, err);
    memory_free(text);
    return rc;
}
