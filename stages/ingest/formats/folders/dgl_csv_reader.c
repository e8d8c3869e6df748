/*
 * dgl_csv_reader - the folder of a DGL CSVDataset of one graph (format: dgl_csv).
 *
 *   meta.yaml
 *     separator: ","                                                     optional
 *     node_data: [{file_name: users.csv, ntype: user}]                   node_id_field: optional,
 *                                                                        default node_id
 *     edge_data: [{file_name: likes.csv, etype: [user, likes, item]}]    src_id_field,
 *     dst_id_field:
 *                                                                        optional, default src_id
 *                                                                        and dst_id
 *   users.csv                          a header, then a line a node
 *     node_id                          any text; edges name nodes by it within their type
 *     label                            optional: a class, or several numbers "0,1,1"
 *     train_mask, val_mask, test_mask  optional: 0 and 1, or False and True
 *     feat                             optional: numbers "0.1,0.2,0.3"
 *   likes.csv                          a header, then a line an edge; a column called weight or
 *                                      time is read, too
 *
 * Other columns are not read. Outputs have the ids of the files. If several types have ids that are
 * not 0, 1, 2, ... in the order of lines, outputs have type:id. Data sets of many graphs
 * (graph_data, a column graph_id with several values) are refused.
 *
 * Format: DGL's "Loading data from CSV files".
 */
#include "common/base/memory.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/folders/dgl_csv_meta.h"
#include "stages/ingest/formats/folders/dgl_csv_nodes.h"
#include "stages/ingest/formats/folders/typed_graph.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/tables/edge_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES_MAX = 4096 };

struct dgl_csv { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    struct dgl_csv_meta meta;
    struct typed_graph *graph;
    struct dgl_csv_nodes type[NODE_TYPE_COUNT_MAX]; /* [meta.node_count] */
    struct named_nodes all;                         /* the ids type:id, if outputs need them */
};

/* --- nodes --- */

static enum error_code read_types(struct dgl_csv *d, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < d->meta.node_count; t++) {
        const struct dgl_csv_file *file = &d->meta.nodes[t];
        if (t == NODE_TYPE_COUNT_MAX)
            return error_set(err, ERROR_INPUT, "%s:%d: expected at most %d node types, found more",
                             d->meta.path, file->line, NODE_TYPE_COUNT_MAX);
        d->type[t] = (struct dgl_csv_nodes){.file = file, .delimiter = d->meta.delimiter};
        rc = dgl_csv_nodes_read_ids(&d->type[t], err);
        if (rc == ERROR_NONE)
            rc = typed_graph_add_type(d->graph, file->line, file->type, d->type[t].names.ids.count,
                                      err);
    }
    for (uint32_t e = 0; rc == ERROR_NONE && e < d->meta.edge_count; e++)
        rc = typed_graph_add_relation(d->graph, d->meta.edges[e].line, d->meta.edges[e].relation,
                                      err);
    return rc == ERROR_NONE ? typed_graph_declare(d->graph, STATED_DIRECTED, err) : rc;
}

static enum error_code note_type(struct dgl_csv *d, uint32_t t, struct error *err)
{
    const struct node_ids ids = node_id_assigner_view(&d->type[t].names.ids);
    char text[ID_BYTES_MAX];
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < ids.node_count; i++) {
        struct field field = {.text = ids.text + ids.offset[i],
                              .size = (size_t)(ids.offset[i + 1] - ids.offset[i])};
        if (d->meta.node_count > 1) {
            const int size = snprintf(text, sizeof text, "%s:%.*s", d->meta.nodes[t].type,
                                      (int)field.size, field.text);
            if (size < 0 || (size_t)size >= sizeof text)
                return error_set(err, ERROR_INPUT, "%s:%" PRIu32 ": expected an id below %d bytes",
                                 d->meta.nodes[t].path, i + 2, ID_BYTES_MAX - TYPE_NAME_SIZE);
            field = (struct field){.text = text, .size = (size_t)size};
        }
        rc = named_nodes_note(&d->all, &field, "node", d->meta.nodes[t].path, (int64_t)i + 2, err);
    }
    return rc;
}

/* Gives the dataset the ids of the files, unless all lines are numbered 0, 1, 2, ... */
static enum error_code set_ids(struct dgl_csv *d, struct error *err)
{
    bool are_numbered = true;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; t < d->meta.node_count; t++)
        are_numbered &= d->type[t].is_numbered;
    if (are_numbered)
        return ERROR_NONE;
    named_nodes_init(&d->all, true, 0);
    for (uint32_t t = 0; rc == ERROR_NONE && t < d->meta.node_count; t++)
        rc = note_type(d, t, err);
    if (rc != ERROR_NONE)
        return rc;
    named_nodes_finish(&d->all);
    const struct node_ids ids = node_id_assigner_view(&d->all.ids);
    return dataset_builder_set_ids(d->builder, &ids, err);
}

/* Finds the width of features. Without relations it is the same for all types, and types without
 * features get zeros. */
static enum error_code find_dim(const struct dgl_csv *d, uint32_t *dim, struct error *err)
{
    *dim = 0;
    for (uint32_t t = 0; t < d->meta.node_count && !d->settings->ingest.relations; t++) {
        const uint32_t found = d->type[t].dim;
        if (*dim && found && found != *dim)
            return error_set(
                err, ERROR_INPUT,
                "%s: feat: expected %" PRIu32 " numbers as earlier types have, found %" PRIu32
                "; " ADVICE
                "write `relations: true` below `ingest:`, which lets each type have its own width",
                d->meta.nodes[t].path, *dim, found);
        *dim = found ? found : *dim;
    }
    return ERROR_NONE;
}

static enum error_code push_nodes(struct dgl_csv *d, struct error *err)
{
    uint32_t dim = 0;
    enum error_code rc = find_dim(d, &dim, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < d->meta.node_count; t++) {
        rc = dgl_csv_nodes_push(&d->type[t], t, d->graph, d->builder, err);
        if (rc == ERROR_NONE && dim && !d->type[t].dim)
            rc = feature_file_push_zeros(d->builder, d->meta.nodes[t].path,
                                         typed_graph_type_size(d->graph, t), dim, err);
    }
    return rc;
}

/* --- edges --- */

struct edge_file { /* the state of one run */
    const struct dgl_csv *d;
    const struct dgl_csv_file *file;
    struct edge_fields fields;
    uint32_t source_type, target_type, relation;
    bool keeps[EDGE_COLUMN_COUNT]; /* the columns that all files have */
    struct edge_columns value;     /* the columns of the current edge */
    struct edge_buffer buffer;
};

static enum error_code take_header(struct edge_file *e, const struct text_line *line,
                                   struct error *err)
{
    static const enum edge_column dropped[] = {EDGE_TYPE, EDGE_ID, EDGE_FEATURE};
    struct field field[EDGE_FIELD_MAX];
    int unknown = 0;
    const size_t count = delimited_split_line(line, e->d->meta.delimiter, field, EDGE_FIELD_MAX);
    e->fields =
        edge_fields_plain(e->d->meta.delimiter, count < EDGE_FIELD_MAX ? count : EDGE_FIELD_MAX);
    (void)edge_fields_named(&e->fields, field, pipeline_edge_label(e->d->settings), &unknown);
    e->fields.source = e->fields.target = EDGE_FIELD_NONE;
    for (size_t i = 0; i < e->fields.count; i++) {
        if (field_is(&field[i], e->file->source))
            e->fields.source = (int)i;
        if (field_is(&field[i], e->file->target))
            e->fields.target = (int)i;
    }
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        edge_fields_drop(&e->fields, dropped[i]);
    if (count <= EDGE_FIELD_MAX && e->fields.source >= 0 && e->fields.target >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a header with %s and %s, found '%.*s'",
                     e->file->path, line->number, e->file->source, e->file->target,
                     line->size < 60 ? (int)line->size : 60, line->text);
}

static enum error_code find_end(const struct edge_file *e, const struct field *field, uint32_t type,
                                const char *what, int64_t line, int64_t *node, struct error *err)
{
    *node = named_nodes_find(&e->d->type[type].names, field);
    if (*node < 0)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": %s: expected an id of %s, found '%.*s'",
                         e->file->path, line, what, e->d->meta.nodes[type].path,
                         field->size < 40 ? (int)field->size : 40, field->text);
    *node += (int64_t)typed_graph_type_first(e->d->graph, type);
    return ERROR_NONE;
}

static enum error_code begin(struct edge_file *e, const struct text_line *line, struct error *err)
{
    enum error_code rc = take_header(e, line, err);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (!e->keeps[c])
            edge_fields_drop(&e->fields, (enum edge_column)c);
    e->fields.notes = dataset_builder_notes(e->d->builder);
    struct edge_widths width = e->fields.width;
    width.of[EDGE_TYPE] = typed_graph_has_types(e->d->graph) ? 1 : 0;
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&e->value, &width, 1, "the columns of an edge", err);
    if (rc == ERROR_NONE)
        rc = edge_buffer_init(&e->buffer, e->d->builder, e->file->path, &width, err);
    if (rc == ERROR_NONE && width.of[EDGE_TYPE])
        *(uint16_t *)e->value.data[EDGE_TYPE] = (uint16_t)e->relation;
    return rc;
}

static enum error_code take_edge(struct edge_file *e, const struct text_line *line,
                                 struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    int64_t source = 0, target = 0;
    const struct edge_columns_view value = edge_columns_read(&e->value, 0);
    enum error_code rc = edge_fields_split(&e->fields, line, e->file->path, field, err);
    if (rc == ERROR_NONE)
        rc = find_end(e, &field[e->fields.source], e->source_type, e->file->source, line->number,
                      &source, err);
    if (rc == ERROR_NONE)
        rc = find_end(e, &field[e->fields.target], e->target_type, e->file->target, line->number,
                      &target, err);
    if (rc == ERROR_NONE)
        rc = edge_fields_values(&e->fields, field, e->file->path, line->number, &e->value, err);
    return rc == ERROR_NONE ? edge_buffer_add(&e->buffer, line->number, source, target, &value, err)
                            : rc;
}

static enum error_code push_lines(struct edge_file *e, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(e->file->path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(reader, &e->d->meta.delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.number == 1)
            rc = begin(e, &line, err);
        else if (line.size)
            rc = take_edge(e, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && e->fields.count == 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s:1: expected a header with %s and %s, found an empty file", e->file->path,
                       e->file->source, e->file->target);
    return rc == ERROR_NONE ? edge_buffer_flush(&e->buffer, err) : rc;
}

/* Finds the columns of one file, one bit for each. */
static enum error_code read_header(const struct dgl_csv *d, uint32_t number, unsigned *columns,
                                   struct error *err)
{
    struct edge_file e = {.d = d, .file = &d->meta.edges[number]};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = false;
    enum error_code rc = line_reader_open(e.file->path, &reader, err);
    if (rc == ERROR_NONE)
        rc = delimited_read(reader, &d->meta.delimiter, &line, &found, err);
    if (rc == ERROR_NONE && found)
        rc = take_header(&e, &line, err);
    line_reader_close(reader);
    *columns = 0;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        *columns |= e.fields.width.of[c] ? 1U << c : 0;
    return rc;
}

/* Finds the columns that all files have; edges get these. The schema notes which relations lack one
 * of the others. */
static enum error_code find_columns(const struct dgl_csv *d, bool keeps[EDGE_COLUMN_COUNT],
                                    struct error *err)
{
    unsigned columns[EDGE_TYPE_COUNT_MAX], all = ~0U, any = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < d->meta.edge_count; i++) {
        rc = read_header(d, i, &columns[i], err);
        all &= columns[i];
        any |= columns[i];
    }
    for (uint32_t i = 0; rc == ERROR_NONE && i < d->meta.edge_count; i++)
        dataset_builder_note_lacks(d->builder, i, any & ~columns[i]);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        keeps[c] = all >> c & 1;
    return rc;
}

static enum error_code push_edges(const struct dgl_csv *d, struct error *err)
{
    struct edge_file e = {.d = d};
    enum error_code rc = find_columns(d, e.keeps, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < d->meta.edge_count; i++) {
        e.file = &d->meta.edges[i];
        e.relation = i;
        e.fields.count = 0;
        typed_graph_relation_ends(d->graph, i, &e.source_type, &e.target_type);
        rc = push_lines(&e, err);
        edge_buffer_release(&e.buffer);
        edge_columns_release(&e.value);
        e.buffer = (struct edge_buffer){0};
    }
    return rc;
}

static enum error_code read_all(struct dgl_csv *d, struct error *err)
{
    enum error_code rc = dgl_csv_meta_read(d->settings->ingest.path, &d->meta, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_new(d->settings, d->builder, d->meta.path, &d->graph, err);
    if (rc == ERROR_NONE)
        rc = read_types(d, err);
    if (rc == ERROR_NONE)
        rc = set_ids(d, err);
    if (rc == ERROR_NONE)
        rc = push_edges(d, err);
    if (rc == ERROR_NONE)
        rc = push_nodes(d, err);
    return rc == ERROR_NONE ? typed_graph_push_targets(d->graph, err) : rc;
}

static enum error_code dgl_csv_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                   struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct dgl_csv d = {.settings = settings, .builder = builder};
    const enum error_code rc = read_all(&d, err);
    for (uint32_t t = 0; t < NODE_TYPE_COUNT_MAX; t++)
        dgl_csv_nodes_release(&d.type[t]);
    named_nodes_release(&d.all);
    typed_graph_free(d.graph);
    dgl_csv_meta_release(&d.meta);
    return rc;
}

const struct input_format dgl_csv_format = {
    .has_folders = true,
    .endings = {".yaml", ".csv", ".tsv", ".txt"},
    .advice = {"add a column `label` to a file of nodes",
               "add a column `train_mask` to it, or write `split: random 60/20/20` below "
               "`ingest:`"},
    .form = "mend it so that meta.yaml lists files with headers, of nodes with node_id and of "
            "edges with src_id and dst_id, as CSVDataset takes them",
    .run = dgl_csv_run,
};
