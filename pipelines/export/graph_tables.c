#include "pipelines/export/graph_tables.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/arrays/npy_writer.h"
#include "common/nn/model_file.h"
#include "pipelines/export/export_arrays.h"
#include "store/objects/keys.h"
#include "store/versions/merged_parts.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 14 };

/* --- the folder --- */

static enum error_code check_name(const char *name, struct error *err)
{
    if (name[0] && name[0] != '.' && !strchr(name, '/') && !strchr(name, ':'))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "the name '%s' cannot be that of a file: " ADVICE "name the type otherwise",
                     name);
}

static enum error_code check_names(const struct partition_book *book, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < book->type_count; t++)
        rc = check_name(book->type_name[t], err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < book->relation_count; r++)
        rc = check_name(book->relation[r].name, err);
    return rc;
}

static enum error_code make_folder(struct graph_tables *tables, struct error *err)
{
    bool found = false;
    enum error_code rc = file_is_there(tables->output, &found, err);
    if (rc == ERROR_NONE && found)
        rc = error_set(err, ERROR_INVALID,
                       "--output %s is there already: " ADVICE "name a folder that is not",
                       tables->output);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_path(tables->path, err, "%s.partial-%ld", tables->output, (long)getpid());
    if (rc == ERROR_NONE && mkdir(tables->path, 0777) != 0) {
        rc = error_set_errno(err, ERROR_IO, "folder %s cannot be made", tables->path);
        tables->path[0] = '\0';
    }
    return rc;
}

/* Makes the path of a file, and its folder if the name has one. */
static enum error_code path_of(const struct graph_tables *tables, const char *name,
                               char out[FILE_PATH_SIZE], struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const char *slash = strrchr(name, '/');
    enum error_code rc = file_path(out, err, "%s/%s", tables->path, name);
    if (rc != ERROR_NONE || !slash)
        return rc;
    rc = file_path(folder, err, "%s/%.*s", tables->path, (int)(slash - name), name);
    return rc == ERROR_NONE ? file_make_folders(folder, err) : rc;
}

/* Finds the first input node of each type. The nodes of a type are consecutive in the input. */
static enum error_code find_types(struct graph_tables *tables, struct error *err)
{
    const struct partition_book *book = &tables->folder->run.book;
    const struct type_ranges ranges = partition_book_ranges(book);
    tables->type_count = partition_book_types(book);
    tables->relation_count = partition_book_relations(book);
    const enum error_code rc =
        memory_new(&tables->type_first, (size_t)tables->type_count + 1, "types of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t t = 0; t < tables->type_count; t++) {
        tables->type_first[t] = UINT32_MAX;
        for (int part = 0; part < ranges.part_count; part++)
            for (uint32_t node = type_ranges_first(&ranges, part, t);
                 node < type_ranges_first(&ranges, part, t + 1); node++)
                if (tables->permutation.to_dataset[node] < tables->type_first[t])
                    tables->type_first[t] = tables->permutation.to_dataset[node];
    }
    return ERROR_NONE;
}

static enum error_code open_targets(struct graph_tables *tables, struct error *err)
{
    const struct partition_book *book = &tables->folder->run.book;
    struct store *store = tables->folder->store;
    if (!task_has(book->task, TASK_LABELS_NODES))
        return ERROR_NONE;
    const enum error_code rc = merged_labels_get(store, book->dataset_id, &tables->labels, err);
    return rc == ERROR_NONE ? merged_splits_get(store, book->dataset_id, &tables->splits, err) : rc;
}

enum error_code graph_tables_open(struct graph_tables *tables, const struct run_folder *folder,
                                  const char *output, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    *tables = (struct graph_tables){.folder = folder, .output = output};
    if (book->graph_count > 0)
        return error_set(err, ERROR_INVALID,
                         "a dataset of many graphs has no partition that DGL distributes");
    enum error_code rc = check_names(book, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(folder->store, book->id, book->node_count, &tables->permutation,
                                    err);
    if (rc == ERROR_NONE)
        rc = find_types(tables, err);
    if (rc == ERROR_NONE)
        rc = export_ids_open(folder, &tables->ids, err);
    if (rc == ERROR_NONE)
        rc = open_targets(tables, err);
    if (rc == ERROR_NONE)
        rc = topology_open(folder->store, book, &tables->topology, err);
    if (rc == ERROR_NONE)
        rc = topology_open_parts(&tables->topology, NULL, err);
    return rc == ERROR_NONE ? make_folder(tables, err) : rc;
}

enum error_code graph_tables_finish(struct graph_tables *tables, struct error *err)
{
    enum error_code rc = file_sync_tree(tables->path, err);
    if (rc == ERROR_NONE)
        rc = file_rename(tables->path, tables->output, err);
    if (rc == ERROR_NONE)
        tables->path[0] = '\0';
    return rc;
}

void graph_tables_close(struct graph_tables *tables)
{
    if (tables->path[0])
        /* the earlier failure is the one to report */
        error_ignore(file_remove_all(tables->path, NULL));
    topology_close(&tables->topology);
    export_ids_close(&tables->ids);
    store_release_record(&tables->labels.view);
    store_release_record(&tables->splits.view);
    store_release_record(&tables->permutation.view);
    memory_free(tables->type_first);
    *tables = (struct graph_tables){.folder = NULL};
}

/* --- names and counts --- */

const char *graph_tables_type(const struct graph_tables *tables, uint32_t type)
{
    const struct partition_book *book = &tables->folder->run.book;
    return book->type_count ? book->type_name[type] : "_N";
}

uint32_t graph_tables_type_size(const struct graph_tables *tables, uint32_t type)
{
    const struct type_ranges ranges = partition_book_ranges(&tables->folder->run.book);
    uint32_t count = 0;
    for (int part = 0; part < ranges.part_count; part++)
        count += type_ranges_count(&ranges, part, type);
    return count;
}

void graph_tables_relation(const struct graph_tables *tables, uint32_t relation,
                           char out[FILE_PATH_SIZE])
{
    const struct partition_book *book = &tables->folder->run.book;
    if (!book->type_count) {
        (void)snprintf(out, FILE_PATH_SIZE, "_N:_E:_N");
        return;
    }
    const struct relation *of = partition_book_relation(book, relation);
    (void)snprintf(out, FILE_PATH_SIZE, "%s:%s:%s", book->type_name[of->source_type], of->name,
                   book->type_name[of->target_type]);
}

uint64_t graph_tables_edges(const struct graph_tables *tables, uint32_t relation, int part)
{
    return topology_rows(&tables->topology, part, relation)->edge_count;
}

/* --- edges --- */

/* Finds the types of both ends. */
static void ends_of(const struct graph_tables *tables, uint32_t relation, uint32_t *source,
                    uint32_t *target)
{
    const struct partition_book *book = &tables->folder->run.book;
    *source = *target = 0;
    if (!book->type_count)
        return;
    *source = partition_book_relation(book, relation)->source_type;
    *target = partition_book_relation(book, relation)->target_type;
}

/* Takes `count` edges of a part, from edge `edge` on, with their ends as input nodes. */
typedef enum error_code (*edge_taker)(void *context, const struct topology_part *part,
                                      uint64_t edge, const int64_t *source, const int64_t *target,
                                      size_t count, struct error *err);

struct edge_piece {
    int64_t source[PIECE], target[PIECE];
};

static enum error_code walk_part(const struct graph_tables *tables, uint32_t relation, int part,
                                 struct edge_piece *piece, edge_taker take, void *context,
                                 struct error *err)
{
    const struct topology_part *rows = topology_rows(&tables->topology, part, relation);
    const uint32_t *to_dataset = tables->permutation.to_dataset;
    uint32_t source_type, target_type;
    ends_of(tables, relation, &source_type, &target_type);
    const uint32_t first_source = tables->type_first[source_type],
                   first_target = tables->type_first[target_type];
    enum error_code rc = ERROR_NONE;
    size_t count = 0;
    uint64_t first = 0;
    for (uint32_t row = 0; rc == ERROR_NONE && row < rows->node_count; row++)
        for (uint64_t e = topology_row_start(rows, row);
             rc == ERROR_NONE && e < topology_row_start(rows, row + 1); e++) {
            piece->source[count] = to_dataset[*topology_neighbor(rows, e)] - first_source;
            piece->target[count++] = to_dataset[rows->first_node + row] - first_target;
            if (count < PIECE)
                continue;
            rc = take(context, rows, first, piece->source, piece->target, count, err);
            first += count;
            count = 0;
        }
    return rc == ERROR_NONE && count
               ? take(context, rows, first, piece->source, piece->target, count, err)
               : rc;
}

static enum error_code walk(const struct graph_tables *tables, uint32_t relation, int first,
                            int end, edge_taker take, void *context, struct error *err)
{
    struct edge_piece *piece = NULL;
    enum error_code rc = memory_new(&piece, 1, "edges to be written", err);
    for (int part = first; rc == ERROR_NONE && part < end; part++)
        rc = walk_part(tables, relation, part, piece, take, context, err);
    memory_free(piece);
    return rc;
}

static uint64_t edges_between(const struct graph_tables *tables, uint32_t relation, int first,
                              int end)
{
    uint64_t count = 0;
    for (int part = first; part < end; part++)
        count += graph_tables_edges(tables, relation, part);
    return count;
}

struct text_file {
    FILE *file;
    const char *path;
};

static enum error_code open_text(const struct graph_tables *tables, const char *name,
                                 char path[FILE_PATH_SIZE], struct text_file *out,
                                 struct error *err)
{
    const enum error_code rc = path_of(tables, name, path, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct text_file){.file = fopen(path, "wxe"), .path = path};
    return out->file ? ERROR_NONE : error_set_errno(err, ERROR_IO, "%s cannot be created", path);
}

static enum error_code put_text(const struct text_file *text, const char *bytes, size_t size,
                                struct error *err)
{
    return fwrite(bytes, 1, size, text->file) == size
               ? ERROR_NONE
               : error_set_errno(err, ERROR_IO, "%s cannot be written", text->path);
}

/* Flushes and closes an opened file; after a failure it only closes it. */
static enum error_code close_text(struct text_file *text, enum error_code rc, struct error *err)
{
    if (!text->file || fclose(text->file) == 0 || rc != ERROR_NONE)
        return rc;
    return error_set_errno(err, ERROR_IO, "%s cannot be written", text->path);
}

static enum error_code take_text(void *context, const struct topology_part *part, uint64_t edge,
                                 const int64_t *source, const int64_t *target, size_t count,
                                 struct error *err)
{
    char line[2 * TEXT_NUMBER_SIZE + 2];
    enum error_code rc = ERROR_NONE;
    (void)part;
    (void)edge;
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        size_t size = text_put_number(line, (uint64_t)source[i]);
        line[size++] = ' ';
        size += text_put_number(line + size, (uint64_t)target[i]);
        line[size++] = '\n';
        rc = put_text(context, line, size, err);
    }
    return rc;
}

enum error_code graph_tables_put_text(const struct graph_tables *tables, uint32_t relation,
                                      int part, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct text_file text = {.file = NULL};
    enum error_code rc = open_text(tables, name, path, &text, err);
    if (rc == ERROR_NONE)
        rc = walk(tables, relation, part, part + 1, take_text, &text, err);
    return close_text(&text, rc, err);
}

static enum error_code take_sources(void *context, const struct topology_part *part, uint64_t edge,
                                    const int64_t *source, const int64_t *target, size_t count,
                                    struct error *err)
{
    (void)part;
    (void)edge;
    (void)target;
    return npy_writer_add(context, source, count, err);
}

static enum error_code take_targets(void *context, const struct topology_part *part, uint64_t edge,
                                    const int64_t *source, const int64_t *target, size_t count,
                                    struct error *err)
{
    (void)part;
    (void)edge;
    (void)source;
    return npy_writer_add(context, target, count, err);
}

static enum error_code open_array(const struct graph_tables *tables, const char *name,
                                  enum npy_type type, uint64_t rows, uint64_t cols,
                                  struct npy_writer *out, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = path_of(tables, name, path, err);
    return rc == ERROR_NONE ? npy_writer_open(out, path, type, rows, cols, err) : rc;
}

static enum error_code close_array(struct npy_writer *writer, enum error_code rc, struct error *err)
{
    if (rc == ERROR_NONE)
        return npy_writer_finish(writer, err);
    npy_writer_close(writer);
    return rc;
}

enum error_code graph_tables_put_edges(const struct graph_tables *tables, uint32_t relation,
                                       const char *name, struct error *err)
{
    const int parts = tables->topology.part_count;
    struct npy_writer writer = {.fd_plus_one = 0};
    enum error_code rc = open_array(tables, name, NPY_I64, 2,
                                    edges_between(tables, relation, 0, parts), &writer, err);
    if (rc == ERROR_NONE)
        rc = walk(tables, relation, 0, parts, take_sources, &writer, err);
    if (rc == ERROR_NONE)
        rc = walk(tables, relation, 0, parts, take_targets, &writer, err);
    return close_array(&writer, rc, err);
}

struct column_file {
    struct npy_writer writer;
    enum edge_column column;
    uint32_t width;
};

static enum error_code take_column(void *context, const struct topology_part *part, uint64_t edge,
                                   const int64_t *source, const int64_t *target, size_t count,
                                   struct error *err)
{
    struct column_file *file = context;
    enum error_code rc = ERROR_NONE;
    (void)source;
    (void)target;
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const void *value = topology_column(part, file->column, edge + i);
        uint16_t narrow = 0;
        int64_t wide = 0;
        if (edge_column[file->column].type == ELEMENT_U16) {
            memcpy(&narrow, value, sizeof narrow);
            wide = narrow;
            value = &wide;
        }
        rc = npy_writer_add(&file->writer, value, file->width, err);
    }
    return rc;
}

enum error_code graph_tables_put_column(const struct graph_tables *tables, uint32_t relation,
                                        int first, int end, enum edge_column column,
                                        const char *name, struct error *err)
{
    const enum element_type type = edge_column[column].type;
    struct column_file file = {.column = column, .width = tables->topology.width.of[column]};
    enum error_code rc =
        open_array(tables, name,
                   type == ELEMENT_F32   ? NPY_F32
                   : type == ELEMENT_F64 ? NPY_F64
                                         : NPY_I64,
                   edges_between(tables, relation, first, end),
                   edge_column[column].has_width ? file.width : 0, &file.writer, err);
    if (rc == ERROR_NONE)
        rc = walk(tables, relation, first, end, take_column, &file, err);
    return close_array(&file.writer, rc, err);
}

/* --- nodes --- */

enum error_code graph_tables_put_features(const struct graph_tables *tables, uint32_t type,
                                          const char *name, struct error *err)
{
    const struct partition_book *book = &tables->folder->run.book;
    char path[FILE_PATH_SIZE];
    const enum error_code rc = path_of(tables, name, path, err);
    const struct array_target target = {.path = path};
    return rc == ERROR_NONE
               ? export_features(tables->folder, book->type_count ? book->type_name[type] : NULL,
                                 &target, err)
               : rc;
}

static uint32_t target_type(const struct graph_tables *tables)
{
    return tables->folder->run.book.target_type;
}

/* Adds the label of a dataset node to the array. */
static enum error_code add_label(const struct graph_tables *tables, uint32_t node, uint32_t width,
                                 struct npy_writer *writer, struct error *err)
{
    const char *row = (const char *)tables->labels.row + (size_t)node * width * sizeof(float);
    int32_t narrow = 0;
    if (writer->type == NPY_F32)
        return npy_writer_add(writer, row, width, err);
    memcpy(&narrow, row, sizeof narrow);
    const int64_t wide = narrow;
    return npy_writer_add(writer, &wide, 1, err);
}

enum error_code graph_tables_put_labels(const struct graph_tables *tables, enum split split,
                                        const char *name, struct error *err)
{
    const struct task *task = task_of(tables->labels.task);
    const bool of_split = split != SPLIT_COUNT;
    const uint32_t width = task->label_width(tables->labels.class_count);
    const uint32_t count = of_split ? tables->splits.count[split]
                                    : graph_tables_type_size(tables, target_type(tables));
    const uint32_t first = tables->type_first[target_type(tables)];
    struct npy_writer writer = {.fd_plus_one = 0};
    enum error_code rc = open_array(tables, name, task->is_class_number ? NPY_I64 : NPY_F32, count,
                                    width > 1 ? width : 0, &writer, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = add_label(tables, of_split ? tables->splits.node[split][i] : first + i, width, &writer,
                       err);
    return close_array(&writer, rc, err);
}

static enum error_code put_mask(const struct graph_tables *tables, enum split split,
                                struct npy_writer *writer, struct error *err)
{
    const uint32_t count = graph_tables_type_size(tables, target_type(tables));
    const uint32_t first = tables->type_first[target_type(tables)];
    uint8_t *mask = NULL;
    enum error_code rc = memory_new(&mask, count, "a mask of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < tables->splits.count[split]; i++)
        mask[tables->splits.node[split][i] - first] = 1;
    if (rc == ERROR_NONE)
        rc = npy_writer_add(writer, mask, count, err);
    memory_free(mask);
    return rc;
}

enum error_code graph_tables_put_split(const struct graph_tables *tables, enum split split,
                                       bool as_mask, const char *name, struct error *err)
{
    const uint32_t first = tables->type_first[target_type(tables)],
                   count = tables->splits.count[split];
    struct npy_writer writer = {.fd_plus_one = 0};
    enum error_code rc = open_array(
        tables, name, as_mask ? NPY_BOOL : NPY_I64,
        as_mask ? graph_tables_type_size(tables, target_type(tables)) : count, 0, &writer, err);
    if (rc == ERROR_NONE && as_mask)
        rc = put_mask(tables, split, &writer, err);
    for (uint32_t i = 0; rc == ERROR_NONE && !as_mask && i < count; i++) {
        const int64_t node = tables->splits.node[split][i] - first;
        rc = npy_writer_add(&writer, &node, 1, err);
    }
    return close_array(&writer, rc, err);
}

static int part_of(const struct graph_tables *tables, uint32_t type, uint32_t number)
{
    return topology_part_of(&tables->topology,
                            tables->permutation.to_partition[tables->type_first[type] + number]);
}

static enum error_code put_part_lines(const struct graph_tables *tables, uint32_t type,
                                      const char *name, struct error *err)
{
    const uint32_t count = graph_tables_type_size(tables, type);
    char path[FILE_PATH_SIZE], line[TEXT_NUMBER_SIZE + 1];
    struct text_file text = {.file = NULL};
    enum error_code rc = open_text(tables, name, path, &text, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        size_t size = text_put_number(line, (uint64_t)part_of(tables, type, i));
        line[size++] = '\n';
        rc = put_text(&text, line, size, err);
    }
    return close_text(&text, rc, err);
}

enum error_code graph_tables_put_parts(const struct graph_tables *tables, uint32_t type,
                                       bool as_text, const char *name, struct error *err)
{
    const uint32_t count = graph_tables_type_size(tables, type);
    struct npy_writer writer = {.fd_plus_one = 0};
    if (as_text)
        return put_part_lines(tables, type, name, err);
    enum error_code rc = open_array(tables, name, NPY_I64, count, 1, &writer, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const int64_t part = part_of(tables, type, i);
        rc = npy_writer_add(&writer, &part, 1, err);
    }
    return close_array(&writer, rc, err);
}

static enum error_code put_id(const struct graph_tables *tables, uint32_t node,
                              const struct text_file *text, struct error *err)
{
    const struct node_ids *ids = &tables->ids.of;
    char *line = NULL;
    enum error_code rc =
        memory_new(&line, node_ids_field_size(ids, node) + 1, "the id of a node", err);
    if (rc != ERROR_NONE)
        return rc;
    size_t size = node_ids_field_put(ids, node, line);
    line[size++] = '\n';
    rc = put_text(text, line, size, err);
    memory_free(line);
    return rc;
}

enum error_code graph_tables_put_ids(const struct graph_tables *tables, uint32_t type,
                                     const char *name, bool *is_written, struct error *err)
{
    const struct node_ids *ids = &tables->ids.of;
    const uint32_t first = tables->type_first[type], count = graph_tables_type_size(tables, type);
    char path[FILE_PATH_SIZE];
    struct text_file text = {.file = NULL};
    *is_written = ids->integer || ids->offset;
    if (!*is_written)
        return ERROR_NONE;
    enum error_code rc = open_text(tables, name, path, &text, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = put_id(tables, first + i, &text, err);
    return close_text(&text, rc, err);
}

enum error_code graph_tables_put_file(const struct graph_tables *tables, const char *name,
                                      const char *text, size_t size, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = path_of(tables, name, path, err);
    return rc == ERROR_NONE ? file_replace(path, text, size, false, err) : rc;
}

enum error_code graph_tables_put_note(const struct graph_tables *tables, const char *introduction,
                                      struct error *err)
{
    const struct run_binding *run = &tables->folder->run;
    char counts[160];
    struct json_writer text = {0};
    (void)snprintf(counts, sizeof counts, "%" PRIu64 " of the %" PRIu64 " edges are self loops.\n",
                   run->book.self_loop_count, run->book.edge_count);
    json_put_raw(&text, introduction);
    json_put_raw(
        &text,
        "\nNodes are numbered within their types, in the order of the input; ids/ has the ids of "
        "the "
        "input where they are not\nthese numbers. Edges are those that a model of graphmill reads: "
        "from source to target, those of an undirected graph both\nways, duplicates and loops as "
        "ingest left them; held-out edges are not among them. Features are as models read them.\n"
        "\nDGL's layers expect what they need of the graph itself: GraphConv and GATConv want self "
        "loops (dgl.add_self_loop), and\nwithout them refuse nodes that have no incoming edge. ");
    json_put_raw(&text, counts);
    json_put_raw(&text, "\n");
    json_put_raw(&text, model_file_note(LAYER_GCN, MODEL_FLAVOR_DGL));
    enum error_code rc = json_writer_finish(&text, err);
    if (rc == ERROR_NONE)
        rc = graph_tables_put_file(tables, "README.txt", text.text, text.size, err);
    json_writer_release(&text);
    return rc;
}
