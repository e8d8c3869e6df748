#include "stages/ingest/formats/folders/folder_edges.h"

#include "common/base/memory.h"
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/tables/edge_fields.h"

#include <inttypes.h>

struct edge_table { /* one run over a CSV file */
    const char *path;
    const struct folder_meta *meta;  /* NULL: no types to check */
    const struct named_nodes *names; /* NULL: ids are numbers */
    const struct edge_files *files;  /* NULL: none */
    struct edge_ends *ends;          /* NULL: ids are those of nodes */
    const char *label;               /* the name of the field of labels; NULL: none */
    struct edge_fields fields;
    struct edge_columns value; /* the columns of the current edge */
    struct edge_buffer buffer;
};

static enum error_code take_header(struct edge_table *table, const struct text_line *line,
                                   struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    int unknown = 0;
    const size_t count =
        delimited_split(line->text, line->size, DELIMITER_COMMA, field, EDGE_FIELD_MAX);
    table->fields =
        edge_fields_plain(DELIMITER_COMMA, count < EDGE_FIELD_MAX ? count : EDGE_FIELD_MAX);
    const bool is_named = edge_fields_named(&table->fields, field, table->label, &unknown);
    if (is_named && unknown == EDGE_FIELD_NONE && count <= EDGE_FIELD_MAX)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected the header src,dst[,weight][,etype][,time], found "
                     "'%.*s'",
                     table->path, line->number, line->size < 60 ? (int)line->size : 60, line->text);
}

static enum error_code bring(const void *context, uint64_t first, size_t count,
                             const struct edge_columns *out, struct error *err)
{
    return edge_files_read(context, first, count, out, err);
}

static enum error_code begin(struct edge_table *table, bool has_header,
                             const struct text_line *line, struct dataset_builder *builder,
                             struct error *err)
{
    enum error_code rc = ERROR_NONE;
    table->fields = edge_fields_plain(table->ends ? table->ends->delimiter : DELIMITER_COMMA, 2);
    if (has_header)
        rc = take_header(table, line, err);
    table->fields.notes = dataset_builder_notes(builder);
    struct edge_widths width = table->fields.width;
    edge_ends_widen(table->ends, &width);
    if (rc == ERROR_NONE)
        rc = edge_files_join(table->files, table->path, &width, err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&table->value, &width, 1, "the columns of an edge", err);
    if (rc == ERROR_NONE)
        edge_ends_fill(table->ends, &table->value, 1);
    if (rc == ERROR_NONE)
        rc = edge_buffer_init(&table->buffer, builder, table->path, &width, err);
    table->buffer.bring = bring;
    table->buffer.bring_context = table->files;
    return rc;
}

static enum error_code check_end(const struct edge_table *table, int64_t line, const char *what,
                                 int64_t node, const struct node_type *type, struct error *err)
{
    const int64_t first = type->first_node, end = first + type->node_count;
    if (node >= first && node < end)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: expected a node of type %s (%" PRId64 " to %" PRId64
                     "), found %" PRId64,
                     table->path, line, what, type->name, first, end - 1, node);
}

/* Returns the type of the current edge; 0 when there are no types. */
static uint16_t type_of(const struct edge_table *table)
{
    const uint16_t *type = table->value.data[EDGE_TYPE];
    return type ? *type : 0;
}

static enum error_code check_types(const struct edge_table *table, int64_t line, int64_t source,
                                   int64_t target, struct error *err)
{
    const struct folder_meta *meta = table->meta;
    const uint16_t type = type_of(table);
    if (!meta || meta->edge_type_count == 0)
        return ERROR_NONE;
    if (type >= meta->edge_type_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": edge type: expected 0 to %" PRIu32
                         " as edge-types.csv says, found %d",
                         table->path, line, meta->edge_type_count - 1, type);
    const enum error_code rc = check_end(table, line, "source", source,
                                         &meta->node_type[meta->edge_type[type].source_type], err);
    return rc == ERROR_NONE ? check_end(table, line, "target", target,
                                        &meta->node_type[meta->edge_type[type].target_type], err)
                            : rc;
}

static enum error_code find_end(const struct edge_table *table, const struct field *field,
                                const char *what, int64_t line, int64_t *node, struct error *err)
{
    if (!table->names)
        return edge_fields_integer(field, what, table->path, line, node, err);
    *node = named_nodes_find(table->names, field);
    if (*node >= 0)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INPUT, "%s:%" PRId64 ": %s: expected an id of node-ids.csv, found '%.*s'",
        table->path, line, what, field->size < 40 ? (int)field->size : 40, field->text);
}

static enum error_code take_edge(struct edge_table *table, const struct text_line *line,
                                 struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    int64_t source = 0, target = 0;
    const struct edge_fields *fields = &table->fields;
    const struct edge_columns_view value = edge_columns_read(&table->value, 0);
    enum error_code rc = edge_fields_split(fields, line, table->path, field, err);
    if (rc == ERROR_NONE)
        rc = find_end(table, &field[fields->source], "source", line->number, &source, err);
    if (rc == ERROR_NONE)
        rc = find_end(table, &field[fields->target], "target", line->number, &target, err);
    if (rc == ERROR_NONE)
        rc = edge_fields_values(fields, field, table->path, line->number, &table->value, err);
    if (rc == ERROR_NONE && table->ends)
        rc = edge_ends_place(table->ends, table->path, line->number, &source, &target, err);
    if (rc == ERROR_NONE)
        rc = check_types(table, line->number, source, target, err);
    if (rc != ERROR_NONE)
        return rc;
    return edge_buffer_add(&table->buffer, line->number, source, target, &value, err);
}

enum error_code folder_edges_read_csv(const char *path, const struct folder_meta *meta,
                                      const struct named_nodes *names,
                                      const struct edge_files *files, struct edge_ends *ends,
                                      struct dataset_builder *builder, uint64_t *row_count,
                                      struct error *err)
{
    static const struct edge_files none;
    const bool has_header = meta != NULL;
    struct edge_table table = {.path = path,
                               .meta = meta,
                               .names = names,
                               .files = files ? files : &none,
                               .ends = ends,
                               .label = meta ? meta->edge_label : NULL};
    const enum delimiter delimiter = ends ? ends->delimiter : DELIMITER_COMMA;
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(reader, &delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.number == 1)
            rc = begin(&table, has_header, &line, builder, err);
        if (rc == ERROR_NONE && (line.number > 1 || !has_header))
            rc = take_edge(&table, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && has_header && table.fields.count == 0)
        rc = error_set(err, ERROR_INPUT, "%s:1: expected the header src,dst, found an empty file",
                       path);
    if (rc == ERROR_NONE)
        rc = edge_buffer_flush(&table.buffer, err);
    if (rc == ERROR_NONE)
        rc = edge_files_check(table.files, table.buffer.total, err);
    *row_count = table.buffer.total;
    edge_buffer_release(&table.buffer);
    edge_columns_release(&table.value);
    return rc;
}

/* Returns whether the array is [edges, 2] rather than [2, edges]. An array of two rows and two
 * columns is read as [2, edges]. */
static bool is_by_rows(const struct npy_reader *reader)
{
    return reader->header.shape[0] != 2;
}

static uint64_t edge_count(const struct npy_reader *reader)
{
    return reader->header.shape[is_by_rows(reader) ? 0 : 1];
}

/* Reads the ends of edges [at, at + count), count <= EDGE_BUFFER_SIZE. */
static enum error_code read_ends(const struct npy_reader *reader, uint64_t at, size_t count,
                                 int64_t *source, int64_t *target, struct error *err)
{
    enum { PAIRS = 1024 };
    int64_t pair[2 * PAIRS];
    if (!is_by_rows(reader)) {
        const enum error_code rc = npy_reader_int64(reader, at, count, source, err);
        return rc == ERROR_NONE
                   ? npy_reader_int64(reader, edge_count(reader) + at, count, target, err)
                   : rc;
    }
    for (size_t done = 0; done < count; done += PAIRS) {
        const size_t piece = count - done < PAIRS ? count - done : PAIRS;
        const enum error_code rc = npy_reader_int64(reader, 2 * (at + done), 2 * piece, pair, err);
        if (rc != ERROR_NONE)
            return rc;
        for (size_t i = 0; i < piece; i++) {
            source[done + i] = pair[2 * i];
            target[done + i] = pair[2 * i + 1];
        }
    }
    return ERROR_NONE;
}

static enum error_code push_columns(const struct npy_reader *reader, const struct edge_files *files,
                                    struct edge_ends *ends, int64_t *source, int64_t *target,
                                    const struct edge_columns *columns,
                                    struct dataset_builder *builder, struct error *err)
{
    const uint64_t count = edge_count(reader);
    enum error_code rc = ERROR_NONE;
    for (uint64_t at = 0; rc == ERROR_NONE && at < count; at += EDGE_BUFFER_SIZE) {
        const size_t piece =
            count - at < EDGE_BUFFER_SIZE ? (size_t)(count - at) : (size_t)EDGE_BUFFER_SIZE;
        const struct edge_piece edges = {.where = reader->path,
                                         .first_line = (int64_t)at,
                                         .count = piece,
                                         .source = source,
                                         .target = target,
                                         .columns = edge_columns_read(columns, 0)};
        rc = edge_files_read(files, at, piece, columns, err);
        if (rc == ERROR_NONE)
            rc = read_ends(reader, at, piece, source, target, err);
        for (size_t i = 0; rc == ERROR_NONE && ends && i < piece; i++)
            rc =
                edge_ends_place(ends, reader->path, (int64_t)(at + i), &source[i], &target[i], err);
        if (rc == ERROR_NONE)
            rc = dataset_builder_add_edges(builder, &edges, err);
    }
    return rc;
}

enum error_code folder_edges_read_npy(const char *path, const struct edge_files *files,
                                      struct edge_ends *ends, struct dataset_builder *builder,
                                      uint64_t *row_count, struct error *err)
{
    struct edge_columns columns = {0};
    struct npy_reader reader = {0};
    int64_t *source = NULL, *target = NULL;
    *row_count = 0;
    enum error_code rc = npy_reader_open(&reader, path, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct npy_header *header = &reader.header;
    if (header->dimension_count != 2 || (header->shape[0] != 2 && header->shape[1] != 2))
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected the shape [2, edges] or [edges, 2], found %" PRIu32
                       " dimensions and %" PRIu64 " rows",
                       path, header->dimension_count, header->shape[0]);
    else
        *row_count = edge_count(&reader);
    if (rc == ERROR_NONE)
        rc = memory_new(&source, EDGE_BUFFER_SIZE, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&target, EDGE_BUFFER_SIZE, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = edge_files_check(files, *row_count, err);
    struct edge_widths width = files->width;
    edge_ends_widen(ends, &width);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&columns, &width, EDGE_BUFFER_SIZE, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        edge_ends_fill(ends, &columns, EDGE_BUFFER_SIZE);
    if (rc == ERROR_NONE)
        rc = push_columns(&reader, files, ends, source, target, &columns, builder, err);
    edge_columns_release(&columns);
    memory_free(source);
    memory_free(target);
    npy_reader_close(&reader);
    return rc;
}

static enum error_code note_type(struct edge_table *table, const struct text_line *line,
                                 uint32_t *type_count, struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    enum error_code rc = edge_fields_split(&table->fields, line, table->path, field, err);
    if (rc == ERROR_NONE)
        rc = edge_fields_values(&table->fields, field, table->path, line->number, &table->value,
                                err);
    if (rc == ERROR_NONE && type_of(table) >= *type_count)
        *type_count = type_of(table) + 1U;
    return rc;
}

static enum error_code begin_types(struct edge_table *table, const struct text_line *line,
                                   struct error *err)
{
    const enum error_code rc = take_header(table, line, err);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (c != EDGE_TYPE)
            edge_fields_drop(&table->fields, (enum edge_column)c);
    return rc == ERROR_NONE ? edge_columns_new(&table->value, &table->fields.width, 1,
                                               "the type of an edge", err)
                            : rc;
}

enum error_code folder_edges_count_types(const char *path, const char *label, uint32_t *type_count,
                                         struct error *err)
{
    static const enum delimiter comma = DELIMITER_COMMA;
    struct edge_table table = {.path = path, .label = label};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    *type_count = 0;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(reader, &comma, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.number > 1)
            rc = note_type(&table, &line, type_count, err);
        else
            rc = begin_types(&table, &line, err);
        if (rc == ERROR_NONE && !table.fields.width.of[EDGE_TYPE])
            break;
    }
    line_reader_close(reader);
    edge_columns_release(&table.value);
    return rc;
}
