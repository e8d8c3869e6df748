#include "common/formats/text/column_encoding.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/missing_words.h"
#include "common/numbers/portable_math.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const column_kind_names[COLUMN_KIND_COUNT + 1] = {"number",  "log",     "standardise",
                                                              "one_hot", "buckets", NULL};
const char *const missing_value_names[MISSING_VALUE_COUNT + 1] = {"refuse", "zero", "mean",
                                                                  "indicator", NULL};

static void release_column(struct column_code *column)
{
    for (size_t i = 0; column->word && i < column->count; i++)
        memory_free(column->word[i]);
    memory_free(column->word);
    memory_free(column->edge);
    memory_free(column->name);
}

void column_encoding_release(struct column_encoding *encoding)
{
    for (size_t i = 0; i < encoding->class_count; i++)
        memory_free(encoding->class_name[i]);
    for (size_t i = 0; i < encoding->column_count; i++)
        release_column(&encoding->column[i]);
    memory_free(encoding->class_name);
    memory_free(encoding->column);
    *encoding = (struct column_encoding){0};
}

/* --- building --- */

static enum error_code copy_word(char **out, const char *text, size_t size, struct error *err)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r')
            return error_set(err, ERROR_INPUT, "'%.*s' has a tab or an end of a line inside",
                             size < 40 ? (int)size : 40, text);
    const enum error_code rc = memory_new(out, size + 1, "a word of a column", err);
    if (rc == ERROR_NONE)
        memcpy(*out, text, size);
    return rc;
}

enum error_code column_encoding_add_class(struct column_encoding *encoding, const char *text,
                                          size_t size, struct error *err)
{
    if (encoding->class_count == COLUMN_CLASSES_MAX)
        return error_set(err, ERROR_INPUT, "expected at most %d classes, found more",
                         COLUMN_CLASSES_MAX);
    enum error_code rc = memory_grow(&encoding->class_name, &encoding->class_capacity,
                                     encoding->class_count + 1, "names of classes", err);
    if (rc == ERROR_NONE)
        rc = copy_word(&encoding->class_name[encoding->class_count], text, size, err);
    if (rc == ERROR_NONE)
        encoding->class_count++;
    return rc;
}

enum error_code column_encoding_add_column(struct column_encoding *encoding, const char *name,
                                           size_t size, struct column_code **out, struct error *err)
{
    if (encoding->column_count == COLUMN_COUNT_MAX)
        return error_set(err, ERROR_INPUT, "expected at most %d columns of features, found more",
                         COLUMN_COUNT_MAX);
    enum error_code rc = memory_grow(&encoding->column, &encoding->column_capacity,
                                     encoding->column_count + 1, "columns of features", err);
    if (rc != ERROR_NONE)
        return rc;
    struct column_code *column = &encoding->column[encoding->column_count];
    *column = (struct column_code){.kind = COLUMN_NUMBER};
    rc = copy_word(&column->name, name, size, err);
    if (rc == ERROR_NONE)
        encoding->column_count++;
    *out = column;
    return rc;
}

static enum error_code expect_room(const struct column_code *column, struct error *err)
{
    return column->count < COLUMN_VALUES_MAX
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT,
                           "column %.60s: expected at most %d words or bounds, found more",
                           column->name, COLUMN_VALUES_MAX);
}

enum error_code column_code_add_word(struct column_code *column, const char *text, size_t size,
                                     struct error *err)
{
    enum error_code rc = expect_room(column, err);
    if (rc == ERROR_NONE && !column->word)
        rc = memory_new(&column->word, COLUMN_VALUES_MAX, "words of a column", err);
    if (rc == ERROR_NONE)
        rc = copy_word(&column->word[column->count], text, size, err);
    if (rc == ERROR_NONE)
        column->count++;
    return rc;
}

enum error_code column_code_add_edge(struct column_code *column, double edge, struct error *err)
{
    enum error_code rc = expect_room(column, err);
    if (rc == ERROR_NONE && !column->edge)
        rc = memory_new(&column->edge, COLUMN_VALUES_MAX, "bounds of buckets", err);
    if (rc == ERROR_NONE && column->count > 0 && !(edge > column->edge[column->count - 1]))
        rc = error_set(err, ERROR_INPUT,
                       "column %.60s: expected ascending bounds, found %g behind %g", column->name,
                       edge, column->edge[column->count - 1]);
    if (rc == ERROR_NONE)
        column->edge[column->count++] = edge;
    return rc;
}

/* --- applying --- */

static int compare_field(const struct field *field, const char *word)
{
    const size_t size = strlen(word), least = field->size < size ? field->size : size;
    const int order = memcmp(field->text, word, least);
    return order ? order : (field->size > size) - (field->size < size);
}

static int64_t find_word(char *const *word, size_t count, const struct field *field)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_field(field, word[middle]);
        if (order == 0)
            return (int64_t)middle;
        *(order < 0 ? &high : &low) = order < 0 ? middle : middle + 1;
    }
    return -1;
}

int64_t column_encoding_class(const struct column_encoding *encoding, const struct field *field)
{
    return find_word(encoding->class_name, encoding->class_count, field);
}

uint32_t column_code_width(const struct column_code *column)
{
    uint32_t width = 1;
    if (column->kind == COLUMN_ONE_HOT)
        width = (uint32_t)column->count;
    if (column->kind == COLUMN_BUCKETS)
        width = (uint32_t)column->count + 1;
    return width + (column->missing == MISSING_VALUE_INDICATOR);
}

uint32_t column_encoding_width(const struct column_encoding *encoding)
{
    uint32_t width = 0;
    for (size_t i = 0; i < encoding->column_count; i++)
        width += column_code_width(&encoding->column[i]);
    return width;
}

bool column_is_missing(const struct field *field)
{
    return field->size == 0;
}

static void put_bucket(const struct column_code *column, double value, float *out)
{
    size_t bucket = 0;
    while (bucket < column->count && value >= column->edge[bucket])
        bucket++;
    out[bucket] = 1.0F;
}

static enum error_code put_number(const struct column_code *column, double value, float *out,
                                  struct error *err)
{
    if (column->kind == COLUMN_BUCKETS) {
        put_bucket(column, value, out);
        return ERROR_NONE;
    }
    if (column->kind == COLUMN_LOG && !(value > -1.0))
        return error_set(err, ERROR_INPUT,
                         "column %.60s: expected a number above -1 for log(1 + x), found %g",
                         column->name, value);
    if (column->kind == COLUMN_LOG)
        value = portable_log(1.0 + value);
    if (column->kind == COLUMN_STANDARDISE)
        value = column->deviation > 0.0 ? (value - column->mean) / column->deviation : 0.0;
    *out = (float)value;
    return isfinite(*out) ? ERROR_NONE
                          : error_set(err, ERROR_INPUT,
                                      "column %.60s: expected a number that fits 32-bit floating "
                                      "point, found %g",
                                      column->name, value);
}

static enum error_code put_missing(const struct column_code *column, float *out, uint32_t width,
                                   struct error *err)
{
    if (column->missing == MISSING_VALUE_REFUSE)
        return error_set(err, ERROR_INPUT,
                         "column %.60s: expected a value, found none: " ADVICE
                         "give it one, or write "
                         "`missing_values: mean` (or zero, indicator) below `ingest:`",
                         column->name);
    if (column->missing == MISSING_VALUE_INDICATOR)
        out[width - 1] = 1.0F;
    if (column->missing != MISSING_VALUE_MEAN || column->kind == COLUMN_ONE_HOT)
        return ERROR_NONE;
    return put_number(column, column->fill, out, err);
}

enum error_code column_code_take(const struct column_code *column, const struct field *field,
                                 float *out, struct error *err)
{
    const uint32_t width = column_code_width(column);
    double value = 0.0;
    memset(out, 0, width * sizeof *out);
    if (column_is_missing(field))
        return put_missing(column, out, width, err);
    if (column->kind == COLUMN_ONE_HOT) {
        const int64_t word = find_word(column->word, column->count, field);
        if (word >= 0)
            out[word] = 1.0F;
        return ERROR_NONE;
    }
    if (missing_words_are_usual(field))
        return error_set(
            err, ERROR_INPUT,
            "column %.60s: expected a finite number, found '%.*s': " ADVICE "if this word says "
            "that the value is missing, write `missing_words: %.*s` below `ingest:`",
            column->name, (int)field->size, field->text, (int)field->size, field->text);
    if (!text_double(field->text, field->size, &value) || !isfinite(value))
        return error_set(err, ERROR_INPUT,
                         "column %.60s: expected a finite number, found '%.*s': " ADVICE
                         "write a number there, or for words `one_hot` behind its name in "
                         "ingest.feature_columns",
                         column->name, field->size < 40 ? (int)field->size : 40, field->text);
    return put_number(column, value, out, err);
}

/* --- as text --- */

static void put_value(struct json_writer *out, double value)
{
    char text[40];
    (void)snprintf(text, sizeof text, "\t%.17g", value);
    json_put_raw(out, text);
}

static void print_column(const struct column_code *column, struct json_writer *out)
{
    json_put_raw(out, "column\t");
    json_put_raw(out, column->name);
    json_put_raw(out, "\t");
    json_put_raw(out, column_kind_names[column->kind]);
    json_put_raw(out, "\t");
    json_put_raw(out, missing_value_names[column->missing]);
    put_value(out, column->fill);
    if (column->kind == COLUMN_STANDARDISE) {
        put_value(out, column->mean);
        put_value(out, column->deviation);
    }
    for (size_t i = 0; i < column->count && column->kind == COLUMN_ONE_HOT; i++) {
        json_put_raw(out, "\t");
        json_put_raw(out, column->word[i]);
    }
    for (size_t i = 0; i < column->count && column->kind == COLUMN_BUCKETS; i++)
        put_value(out, column->edge[i]);
    json_put_raw(out, "\n");
}

void column_encoding_print(const struct column_encoding *encoding, struct json_writer *out)
{
    for (size_t i = 0; i < encoding->class_count; i++) {
        json_put_raw(out, "class\t");
        json_put_raw(out, encoding->class_name[i]);
        json_put_raw(out, "\n");
    }
    for (size_t i = 0; i < encoding->column_count; i++)
        print_column(&encoding->column[i], out);
}

struct text_fields {
    const char *line, *end;
    const char *at; /* the rest of the line; NULL: nothing */
};

static bool next_field(struct text_fields *fields, struct field *out)
{
    if (!fields->at)
        return false;
    const char *tab = memchr(fields->at, '\t', (size_t)(fields->end - fields->at));
    *out = (struct field){fields->at, (size_t)((tab ? tab : fields->end) - fields->at)};
    fields->at = tab ? tab + 1 : NULL;
    return true;
}

static bool next_choice(struct text_fields *fields, const char *const *names, int *out)
{
    struct field field;
    if (!next_field(fields, &field))
        return false;
    for (*out = 0; names[*out]; (*out)++)
        if (field_is(&field, names[*out]))
            return true;
    return false;
}

static bool next_number(struct text_fields *fields, double *out)
{
    struct field field;
    return next_field(fields, &field) && text_double(field.text, field.size, out) && isfinite(*out);
}

static enum error_code not_a_line(const struct text_fields *fields, struct error *err)
{
    const ptrdiff_t size = fields->end - fields->line;
    return error_set(err, ERROR_INPUT,
                     "expected `class`, a tab and a word, or `column` and its name, kind (number, "
                     "log, standardise, one_hot, buckets), policy and numbers, found "
                     "'%.*s': " ADVICE "write it as graphmill did",
                     size < 60 ? (int)size : 60, fields->line);
}

static enum error_code parse_values(struct column_code *column, struct text_fields *fields,
                                    struct error *err)
{
    struct field field;
    double value = 0.0;
    enum error_code rc = ERROR_NONE;
    if (column->kind == COLUMN_STANDARDISE)
        return next_number(fields, &column->mean) && next_number(fields, &column->deviation) &&
                       column->deviation >= 0.0 && !fields->at
                   ? ERROR_NONE
                   : not_a_line(fields, err);
    while (rc == ERROR_NONE && column->kind == COLUMN_ONE_HOT && next_field(fields, &field)) {
        if (column->count > 0 && compare_field(&field, column->word[column->count - 1]) <= 0)
            return error_set(err, ERROR_INPUT,
                             "column %.60s: expected ascending words, found another order: " ADVICE
                             "sort them",
                             column->name);
        rc = column_code_add_word(column, field.text, field.size, err);
    }
    while (rc == ERROR_NONE && column->kind == COLUMN_BUCKETS && fields->at)
        rc = next_number(fields, &value) ? column_code_add_edge(column, value, err)
                                         : not_a_line(fields, err);
    const bool needs_values = column->kind == COLUMN_ONE_HOT || column->kind == COLUMN_BUCKETS;
    if (rc == ERROR_NONE && (fields->at || (needs_values && column->count == 0)))
        rc = not_a_line(fields, err);
    return rc;
}

static enum error_code parse_column(struct column_encoding *out, struct text_fields *fields,
                                    struct error *err)
{
    struct column_code *column = NULL;
    struct field name;
    int kind = 0, missing = 0;
    double fill = 0.0;
    if (!next_field(fields, &name) || name.size == 0 ||
        !next_choice(fields, column_kind_names, &kind) ||
        !next_choice(fields, missing_value_names, &missing) || !next_number(fields, &fill))
        return not_a_line(fields, err);
    const enum error_code rc = column_encoding_add_column(out, name.text, name.size, &column, err);
    if (rc != ERROR_NONE)
        return rc;
    must(column);
    column->kind = (enum column_kind)kind;
    column->missing = (enum missing_value)missing;
    column->fill = fill;
    return parse_values(column, fields, err);
}

static enum error_code parse_class(struct column_encoding *out, struct text_fields *fields,
                                   struct error *err)
{
    struct field name;
    if (!next_field(fields, &name) || name.size == 0 || fields->at)
        return not_a_line(fields, err);
    if (out->class_count > 0 && compare_field(&name, out->class_name[out->class_count - 1]) <= 0)
        return error_set(
            err, ERROR_INPUT,
            "expected classes in ascending order, found '%.*s' behind a later one: " ADVICE
            "sort them",
            name.size < 40 ? (int)name.size : 40, name.text);
    return column_encoding_add_class(out, name.text, name.size, err);
}

static enum error_code parse_line(struct column_encoding *out, const char *text, size_t size,
                                  struct error *err)
{
    struct text_fields fields = {.line = text, .end = text + size, .at = text};
    struct field word;
    if (memchr(text, '\r', size))
        return not_a_line(&fields, err);
    if (next_field(&fields, &word) && field_is(&word, "class"))
        return parse_class(out, &fields, err);
    return field_is(&word, "column") ? parse_column(out, &fields, err) : not_a_line(&fields, err);
}

enum error_code column_encoding_parse(struct column_encoding *out, const char *text, size_t size,
                                      const char *where, struct error *err)
{
    const char *at = text, *end = text + size;
    enum error_code rc = ERROR_NONE;
    *out = (struct column_encoding){0};
    for (int64_t line = 1; rc == ERROR_NONE && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        rc = parse_line(out, at, length, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "%s:%" PRId64, where, line);
        at += length + 1;
    }
    if (rc != ERROR_NONE)
        column_encoding_release(out);
    return rc;
}
