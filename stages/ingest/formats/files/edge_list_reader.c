#include "stages/ingest/formats/files/edge_list_reader.h"

#include "common/base/memory.h"
#include "common/files/file_pattern.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/shared/relation_words.h"
#include "stages/tables/edge_fields.h"
#include "stages/tables/edge_list_survey.h"
#include "stages/tables/edge_role_text.h"
#include "store/records/dataset/node_ids.h"

#include <inttypes.h>
#include <string.h>

struct edge_list { /* the state of one run */
    const struct edge_list_input *input;
    const char *name; /* name of the current file */
    enum id_type id_type;
    struct edge_list_survey survey; /* survey of the first file */
    struct named_nodes nodes;
    struct relation_words relations;
    struct edge_columns value; /* the columns of the current edge */
    struct edge_columns_view value_view;
    struct edge_buffer buffer;
    struct piece_spool aside; /* the edges, with their ends as ids */
    uint64_t comments;        /* number of lines between rows that begin with # or % */
    /* [nodes] 1: a source, 2: a target; only if the header names two kinds of nodes */
    uint8_t *is_end;
};

static enum error_code open_input(const struct edge_list *list, struct line_reader **out,
                                  struct error *err)
{
    const struct edge_list_input *input = list->input;
    if (input->data)
        return line_reader_open_memory(list->name, input->data, input->size, out, err);
    return line_reader_open(list->name, out, err);
}

/* Calls `visit` for each file, with its path in list->name. */
static enum error_code for_each_file(struct edge_list *list, file_pattern_visitor visit,
                                     void *context, struct error *err)
{
    const enum error_code rc = list->input->data
                                   ? visit(context, list->input->name, 0, err)
                                   : file_pattern_visit(list->input->name, visit, context, err);
    list->name = list->input->name;
    return rc;
}

/* ---- the first file
 * ------------------------------------------------------------------------------- */

static enum error_code survey_file(void *context, const char *path, size_t index, struct error *err)
{
    struct edge_list *list = context;
    const struct edge_survey_request request = {.path = path,
                                                .data = list->input->data,
                                                .size = list->input->size,
                                                .settings = list->input->settings,
                                                .features = list->input->edge_features,
                                                .id_type = list->id_type};
    /* Later files have the layout of the first one. */
    return index > 0 ? ERROR_NONE : edge_list_survey_read(&request, &list->survey, err);
}

static enum error_code say_survey(const struct edge_list *list, struct dataset_builder *builder,
                                  struct error *err)
{
    const struct edge_roles *roles = &list->survey.roles;
    enum error_code rc =
        dataset_builder_note(builder, NOTE_UNDERSTOOD, err, "%s%s", roles->said,
                             list->survey.has_zeros ? "; ids are kept as they are written, since "
                                                      "some begin with a zero"
                                                    : "");
    if (rc == ERROR_NONE && roles->warning[0])
        rc = dataset_builder_note(builder, NOTE_WARNING, err, "%s", roles->warning);
    return rc;
}

static bool is_header(const struct edge_list *list, const struct text_line *line)
{
    const struct table_look *look = &list->survey.look;
    return look->header_line && look->header_size == line->size &&
           memcmp(look->header, line->text, line->size) == 0;
}

/* Reports a header in the middle of a file, which shows that files were concatenated. */
static enum error_code repeated_header(const struct edge_list *list, struct line_reader *reader,
                                       const struct text_line *line, struct error *err)
{
    const enum error_code rc = error_set(
        err, ERROR_INPUT,
        "%s:%" PRId64 ": expected an edge, found the header again: " ADVICE "remove the line",
        list->name, line->number);
    line_reader_close(reader);
    return rc;
}

/* Checks that each file begins with the header, if there is one. */
static enum error_code expect_header(const struct edge_list *list, const struct text_line *line,
                                     struct error *err)
{
    if (is_header(list, line))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected the header of the first file, '%.200s', found '%.*s'",
                     list->name, line->number, list->survey.look.header,
                     line->size < 200 ? (int)line->size : 200, line->text);
}

/* ---- lines of two integers
 * ----------------------------------------------------------------------- */

/* Parses an integer of up to 18 digits, which cannot overflow, with an optional sign. Returns its
 * end, or NULL. */
static const char *take_integer(const char *at, const char *end, int64_t *out)
{
    enum { DIGITS_MAX = 18 };
    const bool is_negative = at < end && *at == '-';
    int64_t value = 0;
    at += is_negative;
    if (at + 1 < end && *at == '0' && at[1] >= '0' &&
        at[1] <= '9') /* 007 may be a string, so the general parser decides */
        return NULL;
    const char *stop = end - at > DIGITS_MAX ? at + DIGITS_MAX : end;
    const char *digit = at;
    for (; digit < stop && *digit >= '0' && *digit <= '9'; digit++)
        value = value * 10 + (*digit - '0');
    *out = is_negative ? -value : value;
    return digit > at ? digit : NULL;
}

/* Returns whether the line is two such integers with one separator between them, and nothing else.
 * Most lines of most tables are, and this reads them without splitting fields. The general parser
 * reads all other lines and reports their errors. */
static bool are_two_integers(const struct text_line *line, enum delimiter delimiter, int64_t *first,
                             int64_t *second)
{
    const char *end = line->text + line->size;
    const char *at = take_integer(line->text, end, first);
    if (!at || at == end)
        return false;
    const bool separates =
        *at == *delimiter_text(delimiter) || (*at == '\t' && delimiter == DELIMITER_BLANKS);
    return separates && delimiter != DELIMITER_COLONS && take_integer(at + 1, end, second) == end;
}

/* Returns whether only such lines are expected. */
static bool has_two_columns(const struct edge_list *list)
{
    const struct edge_fields *fields = &list->survey.roles.fields;
    return fields->count == 2 && !list->nodes.ids.of_strings && !list->buffer.has_columns;
}

static enum error_code put_two_aside(struct edge_list *list, const int64_t value[2], int64_t line,
                                     struct error *err)
{
    const struct edge_fields *fields = &list->survey.roles.fields;
    const int64_t source = value[fields->source], target = value[fields->target];
    enum error_code rc = named_nodes_refer_integer(&list->nodes, source, list->name, line, err);
    if (rc == ERROR_NONE)
        rc = named_nodes_refer_integer(&list->nodes, target, list->name, line, err);
    return rc == ERROR_NONE ? edge_buffer_add(&list->buffer, line, source, target, NULL, err) : rc;
}

/* ---- rows
 * ---------------------------------------------------------------------------------------- */

/* Notes the ids, and spools the edge until these are numbered. */
static enum error_code put_aside(struct edge_list *list, const struct field *field, int64_t line,
                                 struct error *err)
{
    const struct edge_fields *fields = &list->survey.roles.fields;
    const char *where = list->name;
    int64_t source = 0, target = 0;
    const int relation = list->survey.roles.type_field;
    enum error_code rc =
        named_nodes_refer_end(&list->nodes, 0, &field[fields->source], where, line, &source, err);
    if (rc == ERROR_NONE)
        rc = named_nodes_refer_end(&list->nodes, 1, &field[fields->target], where, line, &target,
                                   err);
    if (rc == ERROR_NONE && relation != EDGE_FIELD_NONE)
        rc = relation_words_note(&list->relations, &field[relation], where, line,
                                 list->value.data[EDGE_TYPE], err);
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
    uint64_t rows = 0;
    bool found = true, needs_header = list->survey.look.header_line != 0;
    const bool of_two = has_two_columns(list);
    (void)index;
    list->name = list->buffer.where = path;
    enum error_code rc = open_input(list, &reader, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(reader, &list->survey.roles.fields.delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (of_two && !needs_header &&
            are_two_integers(&line, list->survey.roles.fields.delimiter, &value[0], &value[1])) {
            rc = put_two_aside(list, value, line.number, err);
            continue;
        }
        if (text_line_is_skipped(&line)) {
            list->comments += rows > 0 && line.size > 0;
            continue;
        }
        if (needs_header) {
            needs_header = false;
            rc = expect_header(list, &line, err);
            continue;
        }
        rows++;
        if (is_header(list, &line))
            return repeated_header(list, reader, &line, err);
        rc = edge_fields_split(&list->survey.roles.fields, &line, path, field, err);
        if (rc == ERROR_NONE)
            rc = put_aside(list, field, line.number, err);
    }
    if (rc == ERROR_NONE && list->buffer.builder) /* a piece has edges of one file only */
        rc = edge_buffer_flush(&list->buffer, err);
    line_reader_close(reader);
    return rc;
}

static enum error_code read_edges(struct edge_list *list, struct dataset_builder *builder,
                                  struct error *err)
{
    const struct edge_widths *width = &list->survey.roles.fields.width;
    list->survey.roles.fields.notes = dataset_builder_notes(builder);
    enum error_code rc = edge_columns_new(&list->value, width, 1, "the columns of an edge", err);
    if (rc == ERROR_NONE)
        rc = edge_buffer_init(&list->buffer, builder, list->input->name, width, err);
    list->buffer.aside = &list->aside;
    list->value_view = edge_columns_read(&list->value, 0);
    return rc == ERROR_NONE ? for_each_file(list, visit_file, list, err) : rc;
}

/* ---- numbers for ids
 * ------------------------------------------------------------------------------- */

/* Checks that both ends of an edge are of the kinds that the header names. */
static enum error_code note_ends(struct edge_list *list, int64_t source, int64_t target,
                                 struct error *err)
{
    char line[ROLE_TEXT_SIZE], one_space[ROLE_TEXT_SIZE], id[NODE_ID_TEXT_SIZE];
    const struct table_look *look = &list->survey.look;
    const struct edge_fields *fields = &list->survey.roles.fields;
    list->is_end[source] |= 1;
    list->is_end[target] |= 2;
    const int64_t both = list->is_end[source] == 3 ? source : target;
    if (list->is_end[both] != 3)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s: the header names two kinds of things, and %s is in both columns: " ADVICE
                     "if it is two nodes, add a line `%s` below `ingest:`; if it is one, `%s`",
                     list->input->name, named_nodes_text(&list->nodes, both, id),
                     edge_role_line(look, fields->source, fields->target, true, line),
                     edge_role_line(look, fields->source, fields->target, false, one_space));
}

/* Replaces the references of ids and relations by their numbers. */
static enum error_code number_piece(struct edge_list *list, size_t count, struct error *err)
{
    struct edge_buffer *buffer = &list->buffer;
    const bool are_numbered = named_nodes_are_numbered(&list->nodes);
    uint16_t *type =
        list->survey.roles.type_field != EDGE_FIELD_NONE ? buffer->columns.data[EDGE_TYPE] : NULL;
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; !are_numbered && i < count; i++) {
        buffer->source[i] = named_nodes_of(&list->nodes, buffer->source[i]);
        buffer->target[i] = named_nodes_of(&list->nodes, buffer->target[i]);
    }
    for (size_t i = 0; type && i < count; i++)
        type[i] = list->relations.number[type[i]];
    for (size_t i = 0; rc == ERROR_NONE && list->is_end && i < count; i++)
        rc = note_ends(list, buffer->source[i], buffer->target[i], err);
    return rc;
}

static enum error_code push_edges(struct edge_list *list, struct dataset_builder *builder,
                                  struct error *err)
{
    struct edge_buffer *buffer = &list->buffer; /* empty at this point */
    struct edge_piece piece = {.count = 1};
    enum error_code rc = piece_spool_rewind(&list->aside, err);
    if (rc == ERROR_NONE && list->survey.roles.names_two_kinds)
        rc = memory_new(&list->is_end, list->nodes.ids.count, "the ends that nodes are", err);
    while (rc == ERROR_NONE && piece.count) {
        rc = piece_spool_read(&list->aside, buffer->source, buffer->target, &buffer->columns,
                              &piece, err);
        if (rc == ERROR_NONE)
            rc = number_piece(list, piece.count, err);
        if (rc == ERROR_NONE && piece.count)
            rc = dataset_builder_add_edges(builder, &piece, err);
    }
    piece_spool_release(&list->aside);
    return rc;
}

static void begin_nodes(struct edge_list *list, uint64_t memory_bytes)
{
    const struct edge_list_survey *survey = &list->survey;
    const struct edge_roles *roles = &survey->roles;
    if (roles->side[0][0])
        named_nodes_init_sides(&list->nodes, roles->side[0], roles->side[1], memory_bytes / 2);
    else
        named_nodes_init(&list->nodes, survey->of_strings, memory_bytes / 2);
    relation_words_init(&list->relations);
    if (list->id_type != ID_TYPE_AUTO)
        return;
    list->nodes.origin = list->input->name;
    list->nodes.origin_first = survey->look.first_line;
    list->nodes.origin_last = survey->look.last_line;
}

/* Numbers the ids of all files. */
static enum error_code number_nodes(struct edge_list *list, uint64_t memory_bytes,
                                    struct dataset_builder *builder, struct error *err)
{
    begin_nodes(list, memory_bytes);
    enum error_code rc = read_edges(list, builder, err);
    if (rc == ERROR_NONE && list->comments)
        rc = dataset_builder_note(builder, NOTE_WARNING, err,
                                  "%s: %" PRIu64
                                  " lines between the edges begin with # or %% and were skipped as "
                                  "comments; put ids that begin so in quotes",
                                  list->input->name, list->comments);
    if (rc == ERROR_NONE && list->input->nodes)
        rc = node_files_note(list->input->nodes, &list->nodes, err);
    if (rc == ERROR_NONE && list->nodes.side[0])
        rc = named_nodes_join(&list->nodes, err);
    if (rc == ERROR_NONE) {
        named_nodes_finish(&list->nodes);
        relation_words_finish(&list->relations);
    }
    return rc;
}

/* ---- types
 * ------------------------------------------------------------------------------------------- */

/* Declares the types: nodes of two sides are two node types, and each word in the column of
 * relations is a relation. */
static enum error_code push_types(const struct edge_list *list, struct dataset_builder *builder,
                                  struct error *err)
{
    const struct edge_roles *roles = &list->survey.roles;
    const bool has_sides = roles->side[0][0] != '\0',
               has_relations = roles->type_field != EDGE_FIELD_NONE;
    struct edge_type *relation = NULL;
    struct node_type node[2] = {{.name = "node", .node_count = (uint32_t)list->nodes.ids.count}};
    if (!has_sides && !has_relations)
        return ERROR_NONE;
    const uint32_t both = (uint32_t)list->nodes.ids.count;
    for (int side = 0; has_sides && side < 2; side++) {
        (void)memcpy(node[side].name, roles->side[side], TYPE_NAME_SIZE);
        node[side].first_node = side ? (uint32_t)list->nodes.first_side : 0;
        node[side].node_count =
            (side ? both : (uint32_t)list->nodes.first_side) - node[side].first_node;
    }
    enum error_code rc = memory_new(&relation, EDGE_TYPE_COUNT_MAX, "relations", err);
    if (rc != ERROR_NONE)
        return rc;
    must(relation);
    relation[0] = (struct edge_type){.name = "edge", .target_type = has_sides};
    const uint32_t count =
        has_relations ? relation_words_types(&list->relations, 0, has_sides, relation) : 1;
    rc = dataset_builder_set_types(builder, node, has_sides ? 2 : 1, relation, count, err);
    memory_free(relation);
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
    enum error_code rc = for_each_file(&list, survey_file, &list, err);
    if (rc == ERROR_NONE)
        rc = say_survey(&list, builder, err);
    if (rc == ERROR_NONE)
        rc = number_nodes(&list, memory_bytes, builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(builder, list.nodes.ids.count, list.survey.stated, err);
    if (rc == ERROR_NONE)
        rc = push_types(&list, builder, err);
    if (rc == ERROR_NONE)
        rc = push_ids(&list, builder, err);
    if (rc == ERROR_NONE)
        rc = push_edges(&list, builder, err);
    if (rc == ERROR_NONE && input->nodes)
        rc = node_files_push(input->nodes, &list.nodes, builder, err);
    if (rc == ERROR_NONE && input->settings)
        rc = held_edge_files_push(input->settings, &list.nodes, builder, err);
    edge_list_survey_release(&list.survey);
    relation_words_release(&list.relations);
    memory_free(list.is_end);
    edge_buffer_release(&list.buffer);
    piece_spool_release(&list.aside);
    edge_columns_release(&list.value);
    named_nodes_release(&list.nodes);
    return rc;
}
