#include "stages/tables/edge_fields.h"

#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/tables/edge_words.h"
#include "store/records/dataset/dataset_schema.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct edge_fields edge_fields_plain(enum delimiter delimiter, size_t count)
{
    struct edge_fields fields = {.delimiter = delimiter, .count = count, .source = 0, .target = 1};
    for (size_t i = 0; i < EDGE_FIELD_MAX; i++)
        fields.use[i].column = EDGE_FIELD_NONE;
    return fields;
}

bool edge_fields_take(struct edge_fields *fields, size_t field, enum edge_column column)
{
    uint32_t *width = &fields->width.of[column];
    if (!edge_column_may_be(column, *width + 1))
        return false;
    fields->use[field] = (struct edge_use){.column = (int)column, .element = (*width)++};
    return true;
}

void edge_fields_drop(struct edge_fields *fields, enum edge_column column)
{
    fields->width.of[column] = 0;
    for (size_t i = 0; i < fields->count; i++)
        if (fields->use[i].column == (int)column)
            fields->use[i].column = EDGE_FIELD_NONE;
}

static bool take_named(struct edge_fields *fields, const struct field *field, const char *label,
                       size_t at)
{
    const struct edge_word word = edge_word_of(field);
    if (edge_word_is_label(field, label))
        return edge_fields_take(fields, at, EDGE_LABEL);
    return word.role == EDGE_ROLE_COLUMN && edge_fields_take(fields, at, word.column);
}

bool edge_fields_named(struct edge_fields *fields, const struct field *field, const char *label,
                       int *unknown)
{
    *unknown = EDGE_FIELD_NONE;
    fields->source = fields->target = EDGE_FIELD_NONE;
    for (size_t i = 0; i < fields->count; i++) {
        const enum edge_role role = edge_word_of(&field[i]).role;
        if (fields->source == EDGE_FIELD_NONE && role == EDGE_ROLE_SOURCE)
            fields->source = (int)i;
        else if (fields->target == EDGE_FIELD_NONE && role == EDGE_ROLE_TARGET)
            fields->target = (int)i;
        else if (!take_named(fields, &field[i], label, i) && *unknown == EDGE_FIELD_NONE)
            *unknown = (int)i;
    }
    return fields->source != EDGE_FIELD_NONE && fields->target != EDGE_FIELD_NONE;
}

enum error_code edge_fields_split(const struct edge_fields *fields, const struct text_line *line,
                                  const char *where, struct field *field, struct error *err)
{
    const size_t found = delimited_split_line(line, fields->delimiter, field, EDGE_FIELD_MAX);
    if (found == fields->count)
        return ERROR_NONE;
    char extent[DELIMITED_EXTENT_SIZE];
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected %zu columns, found %zu%s" ADVISE_COLUMNS, where,
                     line->number, fields->count, found, delimited_extent(line, extent));
}

/* Returns how many bytes of a field a message shows. */
static int shown(const struct field *field)
{
    return field->size < 40 ? (int)field->size : 40;
}

enum error_code edge_fields_integer(const struct field *field, const char *what, const char *where,
                                    int64_t line, int64_t *out, struct error *err)
{
    if (text_int64(field->text, field->size, out))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: expected a 64-bit integer, found '%.*s'", where, line,
                     what, shown(field), field->text);
}

/* A field and its place, for messages. */
struct place {
    struct value_notes *notes;
    const struct field *field;
    const char *what, *where;
    int64_t line;
    uint32_t element; /* element of the column */
};

static enum error_code number(const struct place *place, double *out, struct error *err)
{
    const struct field *field = place->field;
    if (text_double(field->text, field->size, out) && isfinite(*out))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: expected a finite number, found '%.*s'" ADVISE_NUMBER,
                     place->where, place->line, place->what, shown(field), field->text);
}

static void note_rounded(const struct place *place, float stored)
{
    const struct float_place at = {
        .path = place->where, .line = place->line, .column = place->element, .name = place->what};
    float_loss_note_text(&place->notes->loss, &at, place->field->text, place->field->size, stored);
}

static enum error_code float_value(const struct place *place, float *out, struct error *err)
{
    double value = 0.0;
    const enum error_code rc = number(place, &value, err);
    *out = (float)value;
    if (rc == ERROR_NONE && !isfinite(*out))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s: expected a number that fits 32-bit floating "
                         "point, found '%.*s'",
                         place->where, place->line, place->what, shown(place->field),
                         place->field->text);
    if (rc == ERROR_NONE && fabsf(*out) >= FLOAT_LOSS_FROM && place->notes)
        note_rounded(place, *out);
    return rc;
}

static enum error_code small_value(const struct place *place, int64_t most, uint16_t *out,
                                   struct error *err)
{
    int64_t value = 0;
    const enum error_code rc =
        edge_fields_integer(place->field, place->what, place->where, place->line, &value, err);
    if (rc == ERROR_NONE && (value < 0 || value > most))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s: expected 0 to %" PRId64 ", found %" PRId64,
                         place->where, place->line, place->what, most, value);
    *out = (uint16_t)value;
    return rc;
}

static enum error_code time_value(const struct place *place, int64_t *out, struct error *err)
{
    const struct field *field = place->field;
    struct time_fault fault;
    must(place->notes); /* a reader of times sets how they are written */
    time_format_narrow(&place->notes->time, field->text, field->size);
    if (time_text_value(&place->notes->time, field->text, field->size, out, &fault))
        return ERROR_NONE;
    const enum error_code rc =
        error_set(err, ERROR_INPUT, "%s:%" PRId64 ": %s: expected %s, found '%.*s'", place->where,
                  place->line, place->what, fault.expected, shown(field), field->text);
    return time_fault_advise(&fault, rc, err);
}

static enum error_code take_value(const struct place *place, enum edge_column column, void *data,
                                  uint32_t element, struct error *err)
{
    const int64_t most = column == EDGE_TYPE ? EDGE_TYPE_COUNT_MAX - 1 : UINT16_MAX;
    const enum element_type type = edge_column[column].type;
    if (type == ELEMENT_F32)
        return float_value(place, (float *)data + element, err);
    if (type == ELEMENT_F64)
        return number(place, (double *)data + element, err);
    if (type == ELEMENT_U16)
        return small_value(place, most, (uint16_t *)data + element, err);
    must(type == ELEMENT_I64);
    if (column == EDGE_TIME)
        return time_value(place, (int64_t *)data + element, err);
    return edge_fields_integer(place->field, place->what, place->where, place->line,
                               (int64_t *)data + element, err);
}

enum error_code edge_fields_value(const struct field *field, enum edge_column column,
                                  struct value_notes *notes, const char *where, int64_t line,
                                  void *data, uint32_t element, struct error *err)
{
    const struct place place = {notes, field, edge_column[column].what, where, line, element};
    return take_value(&place, column, data, element, err);
}

enum { NUMBER_SIZE = 64 };

/* Writes 1,5 as 1.5 into `number`. */
static struct field with_point(const struct field *field, char number[NUMBER_SIZE])
{
    char *comma = NULL;
    if (field->size >= NUMBER_SIZE)
        return *field;
    memcpy(number, field->text, field->size);
    comma = memchr(number, ',', field->size);
    if (comma)
        *comma = '.';
    return (struct field){number, field->size};
}

enum error_code edge_fields_values(const struct edge_fields *fields, const struct field *field,
                                   const char *where, int64_t line, const struct edge_columns *out,
                                   struct error *err)
{
    char number[NUMBER_SIZE];
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < fields->count; i++) {
        const struct edge_use *use = &fields->use[i];
        if (use->column == EDGE_FIELD_NONE)
            continue;
        const struct field cell = fields->decimal_comma ? with_point(&field[i], number) : field[i];
        rc = edge_fields_value(&cell, (enum edge_column)use->column, fields->notes, where, line,
                               out->data[use->column], use->element, err);
    }
    return rc;
}
