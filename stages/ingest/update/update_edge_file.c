#include "stages/ingest/update/update_edge_file.h"

#include "common/base/memory.h"
#include "common/files/file_pattern.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/tables/edge_columns_setting.h"
#include "stages/tables/edge_roles.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the first row --------------------------------------------------------------------------- */

/* Sets the fields of a file without a header: source, target, then the columns that the dataset
 * has. */
static void take_plain(struct edge_fields *fields, const struct edge_widths *width)
{
    const enum edge_column order[] = {EDGE_WEIGHT, edge_widths_time_column(width), EDGE_FEATURE};
    size_t at = 2;
    for (size_t c = 0; c < sizeof order / sizeof *order; c++)
        for (uint32_t i = 0; i < width->of[order[c]] && at < fields->count; i++)
            (void)edge_fields_take(fields, at++, order[c]);
}

/* Writes "cites, writes", as far as there is room. */
static const char *name_relations(const struct update_reader *reader, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t r = 0; r < reader->relation_count && at < size; r++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", r ? ", " : "",
                               reader->schema->edge_type[r].name);
    return text;
}

/* Finds the column of relations. If the dataset's edges have no relation, or the file has no such
 * column, the relation is 0. */
static enum error_code find_relation(struct update_edge_file *file, int64_t line, struct error *err)
{
    const struct update_reader *reader = file->reader;
    const bool is_stored = reader->schema->edge_width.of[EDGE_TYPE];
    char relations[200];
    file->relation_field = EDGE_FIELD_NONE;
    if (reader->has_reverses && !is_stored)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": the dataset has no edges, and none of a relation can be "
                         "told apart: expected a dataset that has some",
                         file->path, line);
    for (size_t i = 0; i < file->fields.count; i++)
        if (file->fields.use[i].column == EDGE_TYPE)
            file->relation_field = (int)i;
    if (!is_stored)
        edge_fields_drop(&file->fields, EDGE_TYPE);
    else
        file->fields.width.of[EDGE_TYPE] = 1;
    if (file->relation_field != EDGE_FIELD_NONE || reader->relation_count == 1)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a header with a column etype, since edges have "
                     "several relations: %s",
                     file->path, line, name_relations(reader, relations, sizeof relations));
}

/* Checks that added edges have the columns that the dataset's edges have. */
static enum error_code check_columns(const struct update_edge_file *file, int64_t line,
                                     struct error *err)
{
    const struct edge_widths *expected = &file->reader->schema->edge_width;
    const struct edge_widths *found = &file->fields.width;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (found->of[c] != expected->of[c])
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": the dataset's edges have %" PRIu32
                             " columns of %s, found %" PRIu32,
                             file->path, line, expected->of[c], edge_column[c].plural,
                             found->of[c]);
    size_t used = 2;
    for (size_t i = 0; i < file->fields.count; i++)
        used += file->fields.use[i].column != EDGE_FIELD_NONE || (int)i == file->relation_field;
    if (used == file->fields.count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected %zu columns, found %zu" ADVISE_COLUMNS, file->path,
                     line, used, file->fields.count);
}

/* Keeps times as doubles if the dataset has doubles, which an earlier release stored. */
static void take_old_times(struct edge_fields *fields, const struct edge_widths *width)
{
    if (!width->of[EDGE_TIME_F64] || !fields->width.of[EDGE_TIME])
        return;
    fields->width.of[EDGE_TIME_F64] = 1;
    fields->width.of[EDGE_TIME] = 0;
    for (size_t i = 0; i < fields->count; i++)
        if (fields->use[i].column == EDGE_TIME)
            fields->use[i].column = EDGE_TIME_F64;
}

/* Takes the columns of a file with a header. They have the roles that they have in the edges of the
 * input. ingest.edge_columns is used if it names columns of this header. */
static enum error_code take_header(struct update_edge_file *file, const struct table_look *look,
                                   struct error *err)
{
    struct edge_roles *roles = NULL;
    const char *columns = file->reader->settings->ingest.edge_columns;
    const struct edge_roles_request request = {
        .look = look,
        .where = file->path,
        .columns = edge_columns_setting_fits(columns, look) ? columns : "",
        .label = update_labels_column(file->reader),
        .features = EDGE_FEATURES_AUTO};
    enum error_code rc = memory_new(&roles, 1, "the columns of a file", err);
    if (rc == ERROR_NONE)
        rc = edge_roles_find(&request, roles, err);
    if (rc == ERROR_NONE) {
        file->fields = roles->fields;
        if (roles->type_field != EDGE_FIELD_NONE)
            file->fields.use[roles->type_field].column = EDGE_TYPE;
    }
    memory_free(roles);
    return rc;
}

/* Examines the first rows of the current file. */
static enum error_code survey(struct update_edge_file *file, struct error *err)
{
    struct table_look look = {.rows = 0};
    const struct table_request request = {.path = file->path,
                                          .is_known = edge_word_is_known,
                                          .are_pair = edge_words_are_pair,
                                          .least_columns = 2,
                                          .may_be_empty = true};
    enum error_code rc = table_look_read(&request, &look, err);
    file->header_line = INT64_MAX;
    if (rc != ERROR_NONE || look.column_count == 0) {
        table_look_release(&look);
        return rc;
    }
    const int64_t line = look.header_line ? look.header_line : look.first_line;
    file->header_line = look.header_line;
    if (rc == ERROR_NONE && look.header_line)
        rc = take_header(file, &look, err);
    if (rc == ERROR_NONE && !look.header_line) {
        file->fields = edge_fields_plain(look.delimiter, look.column_count);
        take_plain(&file->fields, &file->reader->schema->edge_width);
    }
    take_old_times(&file->fields, &file->reader->schema->edge_width);
    file->fields.notes = &file->reader->notes;
    file->fields.decimal_comma = look.decimal_comma;
    table_look_release(&look);
    if (rc == ERROR_NONE)
        rc = find_relation(file, line, err);
    if (rc == ERROR_NONE && file->takes_columns)
        rc = update_labels_expect(file->reader, &file->fields, file->path, line, err);
    if (rc == ERROR_NONE && file->takes_columns)
        rc = check_columns(file, line, err);
    return rc == ERROR_NONE ? edge_columns_new(&file->value, &file->fields.width, 1, "an edge", err)
                            : rc;
}

/* ---- relations ------------------------------------------------------------------------------- */

static bool is_name(const struct field *field, const char *name)
{
    return strlen(name) == field->size && memcmp(name, field->text, field->size) == 0;
}

/* Returns whether a field is source:name:target of a relation. The relation's name may already
 * include the names of its types (user_likes_item). If types are names only, the dataset has no
 * types of the ends, so the field may have any. */
static bool is_whole_name(const struct dataset_schema *schema, uint32_t relation,
                          const struct field *field)
{
    const struct edge_type *type = &schema->edge_type[relation];
    const char *first = field->size ? memchr(field->text, ':', field->size) : NULL;
    const char *end = field->text + field->size;
    const char *last = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
    char name[4 * TYPE_NAME_SIZE];
    if (!last || field->size >= sizeof name)
        return false;
    const struct field source = {field->text, (size_t)(first - field->text)};
    const struct field middle = {first + 1, (size_t)(last - first - 1)};
    const struct field target = {last + 1, (size_t)(end - last - 1)};
    (void)snprintf(name, sizeof name, "%.*s_%.*s_%.*s", (int)source.size, source.text,
                   (int)middle.size, middle.text, (int)target.size, target.text);
    const bool has_ends =
        !schema->has_relations || (is_name(&source, schema->node_type[type->source_type].name) &&
                                   is_name(&target, schema->node_type[type->target_type].name));
    return has_ends && (is_name(&middle, type->name) || strcmp(name, type->name) == 0);
}

static enum error_code refuse_relation(const struct update_edge_file *file,
                                       const struct field *field, int64_t line, uint32_t found,
                                       struct error *err)
{
    char relations[200];
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": relation: expected %s (%s), found '%.*s'",
                     file->path, line,
                     found ? "source:name:target, since several have this name"
                           : "the name or number of a relation",
                     name_relations(file->reader, relations, sizeof relations),
                     field->size < 40 ? (int)field->size : 40, field->text);
}

static enum error_code take_relation(const struct update_edge_file *file, const struct field *field,
                                     int64_t line, uint32_t *relation, struct error *err)
{
    const struct update_reader *reader = file->reader;
    const struct dataset_schema *schema = reader->schema;
    uint32_t found = 0;
    *relation = 0;
    if (file->relation_field == EDGE_FIELD_NONE)
        return ERROR_NONE;
    for (uint32_t r = 0; r < reader->relation_count; r++)
        if (is_name(field, schema->edge_type[r].name) || is_whole_name(schema, r, field)) {
            *relation = r;
            found++;
        }
    const int32_t number =
        found ? -1 : dataset_edge_type_of(schema, reader->relation_count, field->text, field->size);
    if (number >= 0) {
        *relation = (uint32_t)number;
        found = 1;
    }
    if (found != 1)
        return refuse_relation(file, field, line, found, err);
    if (*relation && !schema->edge_width.of[EDGE_TYPE])
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": relation: the edges of the dataset have no column of relations, and "
                         "all are of %s: expected that one, found '%.*s'",
                         file->path, line, schema->edge_type[0].name,
                         field->size < 40 ? (int)field->size : 40, field->text);
    return ERROR_NONE;
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum { TYPED_ID_SIZE = 4096 };

/* Returns the id with its type. The two ends of a list may be nodes of two types, which are called
 * by type and id (named_nodes.h). A file of edges may leave the type out: then 17 among the sources
 * means user:17. */
static struct field with_type(const struct update_edge_file *file, uint32_t type,
                              const struct field *field, char text[TYPED_ID_SIZE])
{
    const struct living_nodes *nodes = &file->reader->nodes;
    const char *name = file->reader->schema->node_type[type].name;
    const size_t length = strlen(name);
    if (length + 1 + field->size > TYPED_ID_SIZE ||
        living_nodes_find(nodes, LIVING_ANY_TYPE, field) >= 0)
        return *field;
    memcpy(text, name, length + 1);
    text[length] = ':';
    if (field->size)
        memcpy(text + length + 1, field->text, field->size);
    const struct field whole = {text, length + 1 + field->size};
    return living_nodes_find(nodes, LIVING_ANY_TYPE, &whole) >= 0 ? whole : *field;
}

/* Finds both ends in the direction in which edges are stored, and checks that they have the types
 * that the relation connects. */
static enum error_code take_ends(const struct update_edge_file *file,
                                 const struct update_edge_line *line, uint32_t *source,
                                 uint32_t *target, struct error *err)
{
    const struct living_nodes *nodes = &file->reader->nodes;
    const struct dataset_schema *schema = file->reader->schema;
    const struct edge_type *relation = &schema->edge_type[line->relation];
    const uint32_t from = schema->has_relations ? relation->source_type : LIVING_ANY_TYPE;
    const uint32_t to = schema->has_relations ? relation->target_type : LIVING_ANY_TYPE;
    const bool reversed = file->reader->settings->ingest.direction == DIRECTION_REVERSED;
    char text[2][TYPED_ID_SIZE];
    const struct field first =
        with_type(file, relation->source_type, &line->field[file->fields.source], text[0]);
    const struct field second =
        with_type(file, relation->target_type, &line->field[file->fields.target], text[1]);
    const enum error_code rc = living_nodes_expect(nodes, from, &first, "source", file->path,
                                                   line->line, reversed ? target : source, err);
    return rc == ERROR_NONE ? living_nodes_expect(nodes, to, &second, "target", file->path,
                                                  line->line, reversed ? source : target, err)
                            : rc;
}

static enum error_code visit_row(struct update_edge_file *file, const struct text_line *text,
                                 struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    struct update_edge_line line = {
        .field = field, .line = text->number, .place = file->first_place + text->number};
    char number[16];
    enum error_code rc = edge_fields_split(&file->fields, text, file->path, field, err);
    if (rc == ERROR_NONE)
        rc = take_relation(
            file, &field[file->relation_field == EDGE_FIELD_NONE ? 0 : file->relation_field],
            text->number, &line.relation, err);
    if (rc == ERROR_NONE)
        rc = take_ends(file, &line, &line.source, &line.target, err);
    if (rc != ERROR_NONE)
        return rc;
    if (file->relation_field != EDGE_FIELD_NONE) {
        const int size = snprintf(number, sizeof number, "%" PRIu32, line.relation);
        field[file->relation_field] = (struct field){number, (size_t)size};
    }
    return file->visit(file, &line, err);
}

static enum error_code visit_one(void *context, const char *path, size_t index, struct error *err)
{
    struct update_edge_file *file = context;
    struct line_reader *lines = NULL;
    struct text_line line;
    bool found = true;
    (void)index;
    file->path = path;
    enum error_code rc = update_paths_add(&file->reader->paths, path, &file->first_place, err);
    if (rc == ERROR_NONE)
        rc = survey(file, err);
    if (rc == ERROR_NONE)
        rc = line_reader_open(path, &lines, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(lines, &file->fields.delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (!text_line_is_skipped(&line) && line.number != file->header_line)
            rc = visit_row(file, &line, err);
    }
    line_reader_close(lines);
    edge_columns_release(&file->value);
    return rc;
}

enum error_code update_edge_file_visit(struct update_edge_file *file, struct error *err)
{
    const char *path = file->path;
    const enum error_code rc = path ? file_pattern_visit(path, visit_one, file, err) : ERROR_NONE;
    file->path = path;
    return rc;
}
