#include "stages/ingest/formats/edge_columns.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <math.h>

struct edge_columns edge_columns_plain(enum delimiter delimiter, size_t count)
{
    return (struct edge_columns){.delimiter = delimiter,
                                 .count = count,
                                 .source = 0,
                                 .target = 1,
                                 .weight = EDGE_COLUMN_NONE,
                                 .time = EDGE_COLUMN_NONE,
                                 .type = EDGE_COLUMN_NONE};
}

static bool is_one_of(const struct field *field, const char *const *words)
{
    for (; *words; words++)
        if (field_is(field, *words))
            return true;
    return false;
}

bool edge_columns_named(struct edge_columns *columns, const struct field *field, int *unknown)
{
    static const char *const source[] = {"src",  "source", "from",       "u",
                                         "head", "src_id", "fromnodeid", "from_node",
                                         "id_1", "node1",  NULL};
    static const char *const target[] = {"dst",      "target",  "to",   "v",     "tail", "dst_id",
                                         "tonodeid", "to_node", "id_2", "node2", NULL};
    static const char *const weight[] = {"weight", "w", "rating", "value", NULL};
    static const char *const time[] = {"time", "timestamp", "unixts", "t", NULL};
    static const char *const type[] = {"etype", "edge_type", "relation", NULL};
    const struct {
        const char *const *words;
        int *column;
    } meaning[] = {{source, &columns->source},
                   {target, &columns->target},
                   {weight, &columns->weight},
                   {time, &columns->time},
                   {type, &columns->type}};
    enum { MEANING_COUNT = sizeof meaning / sizeof meaning[0] };

    *unknown = EDGE_COLUMN_NONE;
    for (size_t m = 0; m < MEANING_COUNT; m++)
        *meaning[m].column = EDGE_COLUMN_NONE;
    for (size_t i = 0; i < columns->count; i++) {
        size_t m = 0;
        while (m < MEANING_COUNT &&
               !(*meaning[m].column == EDGE_COLUMN_NONE && is_one_of(&field[i], meaning[m].words)))
            m++;
        if (m < MEANING_COUNT)
            *meaning[m].column = (int)i;
        else if (*unknown == EDGE_COLUMN_NONE)
            *unknown = (int)i;
    }
    return columns->source != EDGE_COLUMN_NONE && columns->target != EDGE_COLUMN_NONE;
}

unsigned edge_columns_extras(const struct edge_columns *columns)
{
    return (columns->weight != EDGE_COLUMN_NONE ? EDGE_WEIGHT : 0U) |
           (columns->time != EDGE_COLUMN_NONE ? EDGE_TIME : 0U) |
           (columns->type != EDGE_COLUMN_NONE ? EDGE_TYPE : 0U);
}

enum error_code edge_columns_split(const struct edge_columns *columns, const struct text_line *line,
                                   const char *where, struct field *field, struct error *err)
{
    const size_t found =
        delimited_split(line->text, line->size, columns->delimiter, field, EDGE_COLUMN_MAX);
    if (found == columns->count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %zu columns, found %zu", where,
                     line->number, columns->count, found);
}

/* How much of a field a message shows. */
static int shown(const struct field *field)
{
    return field->size < 40 ? (int)field->size : 40;
}

enum error_code edge_columns_integer(const struct field *field, const char *what, const char *where,
                                     int64_t line, int64_t *out, struct error *err)
{
    if (text_int64(field->text, field->size, out))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: expected a 64-bit integer, found '%.*s'", where, line,
                     what, shown(field), field->text);
}

static enum error_code number(const struct field *field, const char *what, const char *where,
                              int64_t line, double *out, struct error *err)
{
    if (text_double(field->text, field->size, out) && isfinite(*out))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": %s: expected a finite number, found '%.*s'",
                     where, line, what, shown(field), field->text);
}

static enum error_code weight_value(const struct field *field, const char *where, int64_t line,
                                    float *out, struct error *err)
{
    double value = 0.0;
    const enum error_code rc = number(field, "weight", where, line, &value, err);
    *out = (float)value;
    if (rc == ERROR_NONE && !isfinite(*out))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": weight: expected a number that fits 32-bit floating "
                         "point, found '%.*s'",
                         where, line, shown(field), field->text);
    return rc;
}

static enum error_code type_value(const struct field *field, const char *where, int64_t line,
                                  uint16_t *out, struct error *err)
{
    int64_t value = 0;
    const enum error_code rc = edge_columns_integer(field, "edge type", where, line, &value, err);
    if (rc == ERROR_NONE && (value < 0 || value >= EDGE_TYPE_COUNT_MAX))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": edge type: expected 0 to %d, found %" PRId64, where, line,
                         EDGE_TYPE_COUNT_MAX - 1, value);
    *out = (uint16_t)value;
    return rc;
}

enum error_code edge_columns_values(const struct edge_columns *columns, const struct field *field,
                                    const char *where, int64_t line, struct edge *edge,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (columns->weight != EDGE_COLUMN_NONE)
        rc = weight_value(&field[columns->weight], where, line, &edge->weight, err);
    if (rc == ERROR_NONE && columns->time != EDGE_COLUMN_NONE)
        rc = number(&field[columns->time], "time", where, line, &edge->time, err);
    if (rc == ERROR_NONE && columns->type != EDGE_COLUMN_NONE)
        rc = type_value(&field[columns->type], where, line, &edge->type, err);
    return rc;
}
