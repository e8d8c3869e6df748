#include "stages/ingest/formats/edge_list_reader.h"

#include "common/base/file_pattern.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/delimited.h"
#include "common/formats/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/build/named_nodes.h"
#include "stages/ingest/formats/edge_fields.h"
#include "stages/ingest/formats/held_edge_files.h"
#include "store/records/node_ids.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SURVEY_LINES = 1000 };

/* What the first lines tell about the file. */
struct survey {
    const char *label; /* what the field of labels is called; NULL: there is none */
    int64_t row_count; /* rows looked at, a header not counted */
    int64_t first_row_line, last_row_line, header_line;
    bool first_line_is_integer, others_are_integer;
    bool is_number[EDGE_FIELD_MAX]; /* a field, in all rows but the first line */
    bool first_is_number[EDGE_FIELD_MAX];
    bool is_named; /* the first line names the columns */
    bool of_strings;
    enum stated_direction stated; /* by a comment */
    struct edge_fields fields;
};

struct edge_list { /* one run */
    const struct edge_list_input *input;
    const char *name; /* of the file at hand */
    char *header;     /* the header line, owned, or NULL */
    enum id_type id_type;
    struct survey survey;
    struct named_nodes nodes;
    struct edge_columns value; /* of the edge at hand */
    struct edge_columns_view value_view;
    struct edge_buffer buffer;
    struct piece_spool aside; /* edges by the ids that they were read with */
};

static enum error_code open_input(const struct edge_list *list, struct line_reader **out,
                                  struct error *err)
{
    const struct edge_list_input *input = list->input;
    if (input->data)
        return line_reader_open_memory(list->name, input->data, input->size, out, err);
    return line_reader_open(list->name, out, err);
}

/* Calls `visit` for each file, list->name being its path. */
static enum error_code for_each_file(struct edge_list *list, file_pattern_visitor visit,
                                     void *context, struct error *err)
{
    const enum error_code rc = list->input->data
                                   ? visit(context, list->input->name, 0, err)
                                   : file_pattern_visit(list->input->name, visit, context, err);
    list->name = list->input->name;
    return rc;
}

static enum error_code survey_comment(struct survey *survey, const struct text_line *line,
                                      const char *where, struct error *err)
{
    static const char undirected[] = "# Undirected graph", directed[] = "# Directed graph",
                      matrix[] = "%%MatrixMarket";
    if (line->size >= sizeof undirected - 1 &&
        memcmp(line->text, undirected, sizeof undirected - 1) == 0)
        survey->stated = STATED_UNDIRECTED;
    if (line->size >= sizeof directed - 1 && memcmp(line->text, directed, sizeof directed - 1) == 0)
        survey->stated = STATED_DIRECTED;
    if (line->size >= sizeof matrix - 1 && memcmp(line->text, matrix, sizeof matrix - 1) == 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected an edge list, found a Matrix Market file", where,
                         line->number);
    return ERROR_NONE;
}

static bool is_integer(const struct field *field)
{
    int64_t value = 0;
    return text_int64(field->text, field->size, &value);
}

static bool is_number(const struct field *field)
{
    double value = 0.0;
    return text_double(field->text, field->size, &value) && isfinite(value);
}

/* The first line that is no comment: a header by its names, or a row, or (decided by the rows that
 * follow) a header whose names mean nothing here. */
static enum error_code survey_first(struct edge_list *list, const struct text_line *line,
                                    const char *where, struct error *err)
{
    struct survey *survey = &list->survey;
    const char *columns = list->input->settings ? list->input->settings->ingest.edge_columns : "";
    struct field field[EDGE_FIELD_MAX];
    int unknown = 0;
    const enum delimiter delimiter = delimited_guess(line->text, line->size);
    const size_t count = delimited_split_line(line, delimiter, field, EDGE_FIELD_MAX);
    if (count < 2 || count > EDGE_FIELD_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected 2 to %d columns (source, target), found %zu",
                         where, line->number, EDGE_FIELD_MAX, count);
    survey->fields = edge_fields_plain(delimiter, count);
    if (columns[0]) {
        const enum error_code rc = edge_fields_rename(columns, field, count, line, where, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    survey->is_named = edge_fields_named(&survey->fields, field, survey->label, &unknown);
    if (survey->is_named) {
        for (size_t i = 0; i < count; i++) /* the format has one edge type */
            survey->is_number[i] = survey->fields.use[i].column != EDGE_TYPE;
        edge_fields_drop(&survey->fields, EDGE_TYPE);
        survey->header_line = line->number;
        return ERROR_NONE;
    }
    survey->fields = edge_fields_plain(delimiter, count);
    survey->row_count = 1;
    survey->first_row_line = survey->last_row_line = line->number;
    survey->first_line_is_integer = is_integer(&field[0]) && is_integer(&field[1]);
    for (size_t i = 0; i < count; i++) {
        survey->is_number[i] = true;
        survey->first_is_number[i] = is_number(&field[i]);
    }
    return ERROR_NONE;
}

static enum error_code survey_row(struct survey *survey, const struct text_line *line,
                                  const char *where, struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    const struct edge_fields *fields = &survey->fields;
    const enum error_code rc = edge_fields_split(fields, line, where, field, err);
    if (rc != ERROR_NONE)
        return rc;
    if (survey->row_count++ == 0)
        survey->first_row_line = line->number;
    survey->last_row_line = line->number;
    survey->others_are_integer &=
        is_integer(&field[fields->source]) && is_integer(&field[fields->target]);
    for (size_t i = 0; i < fields->count; i++)
        survey->is_number[i] = survey->is_number[i] && is_number(&field[i]);
    return ERROR_NONE;
}

/* What the fields behind source and target hold: what the header says; without one weight, time; each further one
 * of numbers is an edge feature. */
static void choose_columns(struct survey *survey, bool first_counts,
                           enum edge_feature_choice edge_features)
{
    struct edge_fields *fields = &survey->fields;
    for (size_t i = 0; i < fields->count; i++) {
        const bool is_free = fields->use[i].column == EDGE_FIELD_NONE && (int)i != fields->source &&
                             (int)i != fields->target;
        if (!is_free || !survey->is_number[i] || (first_counts && !survey->first_is_number[i]))
            continue;
        const enum edge_column column = survey->is_named || i > 3 ? EDGE_FEATURE
                                        : i == 2                  ? EDGE_WEIGHT
                                                                  : EDGE_TIME;
        if (column != EDGE_FEATURE || edge_features == EDGE_FEATURES_AUTO)
            (void)edge_fields_take(fields, i, column); /* one more than it may have is left out */
    }
    if (edge_features == EDGE_FEATURES_NONE)
        edge_fields_drop(fields, EDGE_FEATURE);
}

/* Decides on header, ids and columns when all surveyed lines are known. */
static enum error_code survey_decide(struct edge_list *list, struct error *err)
{
    struct survey *survey = &list->survey;
    const enum id_type id_type = list->id_type;
    const bool has_unnamed_header = !survey->is_named && survey->row_count > 1 &&
                                    id_type != ID_TYPE_STRING && !survey->first_line_is_integer &&
                                    survey->others_are_integer;
    if (has_unnamed_header) {
        survey->header_line = survey->first_row_line;
        survey->row_count--;
    }
    if (survey->row_count == 0)
        return error_set(err, ERROR_INPUT, "%s: expected edges, found none", list->input->name);
    const bool first_counts = !survey->is_named && !has_unnamed_header;
    const bool are_integer =
        survey->others_are_integer && (!first_counts || survey->first_line_is_integer);
    survey->of_strings = id_type == ID_TYPE_STRING || (id_type == ID_TYPE_AUTO && !are_integer);
    const bool says_all = list->input->settings && list->input->settings->ingest.edge_columns[0];
    choose_columns(survey, first_counts,
                   says_all && list->input->edge_features == EDGE_FEATURES_AUTO
                       ? EDGE_FEATURES_NAMED
                       : list->input->edge_features);
    return ERROR_NONE;
}

/* The line that the other files are compared with. */
static enum error_code keep_header(struct edge_list *list, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line = {.number = 0};
    bool found = true;
    if (!list->survey.header_line)
        return ERROR_NONE;
    enum error_code rc = open_input(list, &reader, err);
    while (rc == ERROR_NONE && found && line.number < list->survey.header_line)
        rc = delimited_read(reader, NULL, &line, &found, err);
    if (rc == ERROR_NONE && found)
        rc = memory_new(&list->header, line.size + 1, "a header", err);
    if (rc == ERROR_NONE && list->header && line.text)
        memcpy(list->header, line.text, line.size);
    line_reader_close(reader);
    return rc;
}

static enum error_code survey_file(void *context, const char *where, size_t index,
                                   struct error *err)
{
    struct edge_list *list = context;
    struct survey *survey = &list->survey;
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    if (index > 0) /* those behind the first are as that */
        return ERROR_NONE;
    list->name = where;
    survey->stated = STATED_NOTHING;
    survey->label = list->input->settings ? pipeline_edge_label(list->input->settings) : NULL;
    survey->others_are_integer = true;
    enum error_code rc = open_input(list, &reader, err);
    while (rc == ERROR_NONE && survey->row_count < SURVEY_LINES) {
        rc = delimited_read(reader, survey->fields.count ? &survey->fields.delimiter : NULL, &line,
                            &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (text_line_is_skipped(&line))
            rc = survey_comment(survey, &line, where, err);
        else if (survey->fields.count == 0)
            rc = survey_first(list, &line, where, err);
        else
            rc = survey_row(survey, &line, where, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE)
        rc = survey_decide(list, err);
    return rc == ERROR_NONE ? keep_header(list, err) : rc;
}

static enum error_code survey_run(struct edge_list *list, struct error *err)
{
    return for_each_file(list, survey_file, list, err);
}

/* The first line of each file is the header, if there is one. */
static enum error_code expect_header(const struct edge_list *list, const struct text_line *line,
                                     struct error *err)
{
    if (strlen(list->header) == line->size && memcmp(list->header, line->text, line->size) == 0)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INPUT,
        "%s:%" PRId64 ": expected the header of the first file, '%.200s', found '%.*s'", list->name,
        line->number, list->header, line->size < 200 ? (int)line->size : 200, line->text);
}

/* ---- lines of two integers ----------------------------------------------------------------------- */

/* Up to 18 digits, which no overflow has, behind a sign; where they end, or NULL. */
static const char *take_integer(const char *at, const char *end, int64_t *out)
{
    enum { DIGITS_MAX = 18 };
    const bool is_negative = at < end && *at == '-';
    int64_t value = 0;
    at += is_negative;
    const char *stop = end - at > DIGITS_MAX ? at + DIGITS_MAX : end;
    const char *digit = at;
    for (; digit < stop && *digit >= '0' && *digit <= '9'; digit++)
        value = value * 10 + (*digit - '0');
    *out = is_negative ? -value : value;
    return digit > at ? digit : NULL;
}

/* Whether the line is two such integers with one separator between them, and nothing else. Most lines of most tables are: they
 * are read without looking for fields. All others go the long way, and so do their mistakes. */
static bool are_two_integers(const struct text_line *line, enum delimiter delimiter, int64_t *first,
                             int64_t *second)
{
    const char *end = line->text + line->size;
    const char *at = take_integer(line->text, end, first);
    if (!at || at == end)
        return false;
    const bool separates = delimiter == DELIMITER_COMMA
                               ? *at == ','
                               : *at == '\t' || (*at == ' ' && delimiter == DELIMITER_BLANKS);
    return separates && take_integer(at + 1, end, second) == end;
}

/* Whether such lines are all that is wanted. */
static bool has_two_columns(const struct edge_list *list)
{
    const struct edge_fields *fields = &list->survey.fields;
    return fields->count == 2 && !list->nodes.ids.of_strings && !list->buffer.has_columns;
}

static enum error_code put_two_aside(struct edge_list *list, const int64_t value[2], int64_t line,
                                     struct error *err)
{
    const struct edge_fields *fields = &list->survey.fields;
    const int64_t source = value[fields->source], target = value[fields->target];
    enum error_code rc = named_nodes_refer_integer(&list->nodes, source, list->name, line, err);
    if (rc == ERROR_NONE)
        rc = named_nodes_refer_integer(&list->nodes, target, list->name, line, err);
    return rc == ERROR_NONE ? edge_buffer_add(&list->buffer, line, source, target, NULL, err) : rc;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* Notes the ids, and puts the edge aside until these are numbered. */
static enum error_code put_aside(struct edge_list *list, const struct field *field, int64_t line,
                                 struct error *err)
{
    const struct edge_fields *fields = &list->survey.fields;
    const char *where = list->name;
    int64_t source = 0, target = 0;
    enum error_code rc = named_nodes_refer(&list->nodes, &field[fields->source], "source", where,
                                           line, &source, err);
    if (rc == ERROR_NONE)
        rc = named_nodes_refer(&list->nodes, &field[fields->target], "target", where, line, &target,
                               err);
    if (rc == ERROR_NONE)
        rc = edge_fields_values(fields, field, where, line, &list->value, err);
    return rc == ERROR_NONE
               ? edge_buffer_add(&list->buffer, line, source, target, &list->value_view, err)
               : rc;
}

static enum error_code visit_file(void *context, const char *path, size_t index, struct error *err)
{
    struct edge_list *list = context;
    struct field field[EDGE_FIELD_MAX];
    struct line_reader *reader = NULL;
    struct text_line line;
    int64_t value[2];
    bool found = true, needs_header = list->header != NULL;
    const bool of_two = has_two_columns(list);
    (void)index;
    list->name = list->buffer.where = path;
    enum error_code rc = open_input(list, &reader, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(reader, &list->survey.fields.delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (of_two && !needs_header &&
            are_two_integers(&line, list->survey.fields.delimiter, &value[0], &value[1])) {
            rc = put_two_aside(list, value, line.number, err);
            continue;
        }
        if (text_line_is_skipped(&line))
            continue;
        if (needs_header) {
            needs_header = false;
            rc = expect_header(list, &line, err);
            continue;
        }
        rc = edge_fields_split(&list->survey.fields, &line, path, field, err);
        if (rc == ERROR_NONE)
            rc = put_aside(list, field, line.number, err);
    }
    if (rc == ERROR_NONE && list->buffer.builder) /* a piece of edges is of one file */
        rc = edge_buffer_flush(&list->buffer, err);
    line_reader_close(reader);
    return rc;
}

static enum error_code read_edges(struct edge_list *list, struct dataset_builder *builder,
                                  struct error *err)
{
    const struct edge_widths *width = &list->survey.fields.width;
    list->survey.fields.notes = dataset_builder_notes(builder);
    enum error_code rc = edge_columns_new(&list->value, width, 1, "the columns of an edge", err);
    if (rc == ERROR_NONE)
        rc = edge_buffer_init(&list->buffer, builder, list->input->name, width, err);
    list->buffer.aside = &list->aside;
    list->value_view = edge_columns_read(&list->value, 0);
    return rc == ERROR_NONE ? for_each_file(list, visit_file, list, err) : rc;
}

static enum error_code push_edges(struct edge_list *list, struct dataset_builder *builder,
                                  struct error *err)
{
    struct edge_buffer *buffer = &list->buffer; /* empty by now */
    struct edge_piece piece = {.count = 1};
    const bool are_numbered = named_nodes_are_numbered(&list->nodes);
    enum error_code rc = piece_spool_rewind(&list->aside, err);
    while (rc == ERROR_NONE && piece.count) {
        rc = piece_spool_read(&list->aside, buffer->source, buffer->target, &buffer->columns,
                              &piece, err);
        for (size_t i = 0; rc == ERROR_NONE && !are_numbered && i < piece.count; i++) {
            buffer->source[i] = named_nodes_of(&list->nodes, buffer->source[i]);
            buffer->target[i] = named_nodes_of(&list->nodes, buffer->target[i]);
        }
        if (rc == ERROR_NONE && piece.count)
            rc = dataset_builder_add_edges(builder, &piece, err);
    }
    piece_spool_release(&list->aside);
    return rc;
}

/* The ids of all files, numbered. */
static enum error_code number_nodes(struct edge_list *list, uint64_t memory_bytes,
                                    struct dataset_builder *builder, struct error *err)
{
    const struct survey *survey = &list->survey;
    named_nodes_init(&list->nodes, survey->of_strings, memory_bytes / 2);
    if (list->id_type == ID_TYPE_AUTO) {
        list->nodes.origin = list->input->name;
        list->nodes.origin_first = survey->first_row_line;
        list->nodes.origin_last = survey->last_row_line;
    }
    enum error_code rc = read_edges(list, builder, err);
    if (rc == ERROR_NONE && list->input->nodes)
        rc = node_files_note(list->input->nodes, &list->nodes, err);
    if (rc == ERROR_NONE)
        named_nodes_finish(&list->nodes);
    return rc;
}

static enum error_code push_ids(const struct edge_list *list, struct dataset_builder *builder,
                                struct error *err)
{
    const struct node_ids ids = node_id_assigner_view(&list->nodes.ids);
    if (node_id_assigner_is_consecutive(&list->nodes.ids))
        return ERROR_NONE;
    return dataset_builder_set_ids(builder, &ids, err);
}

enum error_code edge_list_reader_run(const struct edge_list_input *input, enum id_type id_type,
                                     uint64_t memory_bytes, struct dataset_builder *builder,
                                     struct error *err)
{
    struct edge_list list = {.input = input, .name = input->name, .id_type = id_type};
    enum error_code rc = survey_run(&list, err);
    if (rc == ERROR_NONE)
        rc = number_nodes(&list, memory_bytes, builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(builder, list.nodes.ids.count, list.survey.stated, err);
    if (rc == ERROR_NONE)
        rc = push_ids(&list, builder, err);
    if (rc == ERROR_NONE)
        rc = push_edges(&list, builder, err);
    if (rc == ERROR_NONE && input->nodes)
        rc = node_files_push(input->nodes, &list.nodes, builder, err);
    if (rc == ERROR_NONE && input->settings)
        rc = held_edge_files_push(input->settings, &list.nodes, builder, err);
    memory_free(list.header);
    edge_buffer_release(&list.buffer);
    piece_spool_release(&list.aside);
    edge_columns_release(&list.value);
    named_nodes_release(&list.nodes);
    return rc;
}
