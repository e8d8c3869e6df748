#include "stages/ingest/formats/collections/ogb_types.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/collections/ogb_direction.h"
#include "stages/ingest/formats/collections/ogb_split.h"
#include "stages/ingest/formats/collections/ogb_split_arrays.h"
#include "stages/ingest/formats/folders/typed_graph.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/npz_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const endings[] = {".csv.gz", ".csv.zst", ".csv", NULL};
static const char separator[] = "___";

struct ogb_types { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    const char *raw;
    bool is_binary;
    char types[FILE_PATH_SIZE];                        /* the file that lists the types */
    struct npz_folder counts, edges, features, labels; /* unpacked arrays */
    char archive[4][FILE_PATH_SIZE];
    struct ogb_split_arrays splits; /* from torch files */
    struct typed_graph *graph;
    uint32_t type_count, relation_count;
    char type_name[NODE_TYPE_COUNT_MAX][TYPE_NAME_SIZE];
    /* [EDGE_TYPE_COUNT_MAX], in the form of names of folders and arrays */
    char (*relation)[3 * TYPE_NAME_SIZE];
    char (*feature_path)[FILE_PATH_SIZE]; /* [NODE_TYPE_COUNT_MAX] */
};

enum error_code ogb_types_are_there(const char *raw, bool *found, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = input_files_find(raw, "num-node-dict", endings, path, err);
    *found = rc == ERROR_NONE && path[0];
    if (rc != ERROR_NONE || *found)
        return rc;
    rc = file_path(path, err, "%s/num_nodes_dict.npz", raw);
    return rc == ERROR_NONE ? file_is_there(path, found, err) : rc;
}

/* --- which types --- */

static enum error_code add_type(struct ogb_types *o, int64_t line, const char *name, size_t size,
                                int64_t count, struct error *err)
{
    if (o->type_count == NODE_TYPE_COUNT_MAX || size >= TYPE_NAME_SIZE || count < 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected at most %d types, each with a name and a number "
                         "of nodes, found '%.*s'",
                         o->types, line, NODE_TYPE_COUNT_MAX, size < 40 ? (int)size : 40, name);
    char *own = o->type_name[o->type_count++];
    memcpy(own, name, size);
    own[size] = '\0';
    return typed_graph_add_type(o->graph, line, own, (uint64_t)count, err);
}

static enum error_code add_relation(struct ogb_types *o, int64_t line, const struct field part[3],
                                    struct error *err)
{
    char name[3 * TYPE_NAME_SIZE];
    if (o->relation_count == EDGE_TYPE_COUNT_MAX ||
        part[0].size + part[1].size + part[2].size + 2 * strlen(separator) >= sizeof name)
        return error_set(err, ERROR_INPUT, "%s: expected at most %d relations with short names",
                         o->types, EDGE_TYPE_COUNT_MAX);
    (void)snprintf(o->relation[o->relation_count++], sizeof name, "%.*s%s%.*s%s%.*s",
                   (int)part[0].size, part[0].text, separator, (int)part[1].size, part[1].text,
                   separator, (int)part[2].size, part[2].text);
    (void)snprintf(name, sizeof name, "%.*s:%.*s:%.*s", (int)part[0].size, part[0].text,
                   (int)part[1].size, part[1].text, (int)part[2].size, part[2].text);
    return typed_graph_add_relation(o->graph, line, name, err);
}

/* Reads two lines: the names of the types, and their counts. */
static enum error_code read_counts(struct ogb_types *o, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    struct field field[NODE_TYPE_COUNT_MAX + 1] = {{0}};
    char names[NODE_TYPE_COUNT_MAX * TYPE_NAME_SIZE];
    bool found = false;
    size_t count = 0, given = 0;
    enum error_code rc = line_reader_open(o->types, &reader, err);
    if (rc == ERROR_NONE)
        rc = line_reader_next(reader, &line, &found, err);
    if (rc == ERROR_NONE && found && line.size < sizeof names) {
        memcpy(names, line.text, line.size);
        count = delimited_split(names, line.size, DELIMITER_COMMA, field, NODE_TYPE_COUNT_MAX);
        rc = line_reader_next(reader, &line, &found, err);
    }
    struct field number[NODE_TYPE_COUNT_MAX + 1] = {{0}};
    if (rc == ERROR_NONE && found)
        given = delimited_split(line.text, line.size, DELIMITER_COMMA, number, NODE_TYPE_COUNT_MAX);
    if (rc == ERROR_NONE && (count == 0 || given != count || count > NODE_TYPE_COUNT_MAX))
        rc = error_set(err, ERROR_INPUT,
                       "%s:2: expected a line of 1 to %d types and a line with as many numbers, "
                       "found %zu and %zu",
                       o->types, NODE_TYPE_COUNT_MAX, count, given);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        int64_t nodes = -1;
        if (!text_int64(number[i].text, number[i].size, &nodes))
            nodes = -1;
        rc = add_type(o, 2, field[i].text, field[i].size, nodes, err);
    }
    line_reader_close(reader);
    return rc;
}

static enum error_code read_triplets(struct ogb_types *o, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = input_files_find(o->raw, "triplet-type-list", endings, o->types, err);
    if (rc == ERROR_NONE && !o->types[0])
        return error_set(err, ERROR_NOT_FOUND,
                         "%s: expected triplet-type-list.csv.gz, found no such file", o->raw);
    if (rc == ERROR_NONE)
        rc = line_reader_open(o->types, &reader, err);
    while (rc == ERROR_NONE) {
        struct field part[4];
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (delimited_split(line.text, line.size, DELIMITER_COMMA, part, 4) != 3)
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected source type, name and target type, found "
                           "'%.*s'",
                           o->types, line.number, line.size < 60 ? (int)line.size : 60, line.text);
        else
            rc = add_relation(o, line.number, part, err);
    }
    line_reader_close(reader);
    return rc;
}

/* --- types from arrays --- */

/* Unpacks raw/<stem>.npz; *found is false without it. */
static enum error_code unpack(struct ogb_types *o, int slot, const char *stem,
                              struct npz_folder *folder, bool *found, struct error *err)
{
    enum error_code rc = file_path(o->archive[slot], err, "%s/%s.npz", o->raw, stem);
    *found = false;
    if (rc == ERROR_NONE)
        rc = file_is_there(o->archive[slot], found, err);
    return rc == ERROR_NONE && *found
               ? npz_folder_open_all(folder, o->archive[slot], stem, o->builder, err)
               : rc;
}

/* Returns the name of an array without .npy as a field; false for another file. */
static bool array_name(const char *file, char name[3 * TYPE_NAME_SIZE])
{
    const size_t size = strlen(file);
    if (!input_files_ends_in(file, ".npy") || size - 4 >= (size_t)3 * TYPE_NAME_SIZE)
        return false;
    memcpy(name, file, size - 4);
    name[size - 4] = '\0';
    return true;
}

static enum error_code take_array_type(void *context, const char *file, struct error *err)
{
    struct ogb_types *o = context;
    struct integer_column count = {0};
    char name[3 * TYPE_NAME_SIZE], path[FILE_PATH_SIZE];
    if (!array_name(file, name))
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", o->counts.path, file);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&count, path, 1, err);
    if (rc == ERROR_NONE && count.count != 1)
        rc = error_set(err, ERROR_INPUT, "%s: %s: expected one number (a data set of one graph)",
                       o->types, name);
    if (rc == ERROR_NONE)
        rc = add_type(o, 0, name, strlen(name), count.value[0], err);
    integer_column_release(&count);
    return rc;
}

static enum error_code take_array_relation(void *context, const char *file, struct error *err)
{
    struct ogb_types *o = context;
    char name[3 * TYPE_NAME_SIZE];
    struct field part[3];
    if (!array_name(file, name))
        return ERROR_NONE;
    const char *first = strstr(name, separator);
    const char *second = first ? strstr(first + strlen(separator), separator) : NULL;
    if (!second)
        return error_set(err, ERROR_INPUT,
                         "%s: expected arrays called source___name___target, found %s",
                         o->edges.archive, name);
    part[0] = (struct field){name, (size_t)(first - name)};
    part[1] =
        (struct field){first + strlen(separator), (size_t)(second - first) - strlen(separator)};
    part[2] = (struct field){second + strlen(separator), strlen(second + strlen(separator))};
    return add_relation(o, 0, part, err);
}

static enum error_code read_types(struct ogb_types *o, struct error *err)
{
    bool found = false;
    enum error_code rc = input_files_find(o->raw, "num-node-dict", endings, o->types, err);
    o->is_binary = rc == ERROR_NONE && !o->types[0];
    if (rc != ERROR_NONE || !o->is_binary) {
        if (rc == ERROR_NONE)
            rc = read_counts(o, err);
        return rc == ERROR_NONE ? read_triplets(o, err) : rc;
    }
    rc = unpack(o, 0, "num_nodes_dict", &o->counts, &found, err);
    memcpy(o->types, o->archive[0], sizeof o->types);
    if (rc == ERROR_NONE)
        rc = file_list(o->counts.path, take_array_type, o, err);
    if (rc == ERROR_NONE)
        rc = unpack(o, 1, "edge_index_dict", &o->edges, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_NOT_FOUND,
                         "%s: expected edge_index_dict.npz, found no such file", o->raw);
    return rc == ERROR_NONE ? file_list(o->edges.path, take_array_relation, o, err) : rc;
}

/* --- features, labels, splits --- */

/* Finds raw/<room>/<type>/<stem>.csv.gz, or the array of the type; path is "" when there is
 * none. */
static enum error_code find_rows(const struct ogb_types *o, const char *room, const char *type,
                                 const char *stem, const struct npz_folder *arrays,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    char folder[FILE_PATH_SIZE];
    path[0] = '\0';
    if (o->is_binary)
        return arrays->archive ? npz_folder_find(arrays, "", type, path, err) : ERROR_NONE;
    const enum error_code rc = file_path(folder, err, "%s/%s/%s", o->raw, room, type);
    return rc == ERROR_NONE ? input_files_find(folder, stem, endings, path, err) : rc;
}

static enum error_code check_edge_count(const char *folder, uint64_t found, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct integer_column count = {0};
    enum error_code rc = input_files_find(folder, "num-edge-list", endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    rc = integer_column_read(&count, path, 1, err);
    if (rc == ERROR_NONE && (count.count != 1 || count.value[0] != (int64_t)found))
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 ", the number of edges beside it, "
                       "found %" PRId64,
                       path, found, count.count ? count.value[0] : 0);
    integer_column_release(&count);
    return rc;
}

static enum error_code push_edges(const struct ogb_types *o, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < o->relation_count; r++) {
        char path[FILE_PATH_SIZE], folder[FILE_PATH_SIZE];
        uint64_t rows = 0;
        rc = file_path(folder, err, "%s/relations/%s", o->raw, o->relation[r]);
        if (rc == ERROR_NONE)
            rc = o->is_binary ? npz_folder_need(&o->edges, "", o->relation[r], path, err)
                              : input_files_find(folder, "edge", endings, path, err);
        if (rc == ERROR_NONE && !path[0])
            return error_set(err, ERROR_NOT_FOUND, "%s: expected edge.csv.gz, found no such file",
                             folder);
        if (rc == ERROR_NONE)
            rc = typed_graph_push_edges(o->graph, r, path, DELIMITER_COMMA, &rows, err);
        if (rc == ERROR_NONE && !o->is_binary)
            rc = check_edge_count(folder, rows, err);
    }
    return rc;
}

static enum error_code push_features(const struct ogb_types *o, struct error *err)
{
    struct typed_rows rows[NODE_TYPE_COUNT_MAX];
    uint32_t count = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < o->type_count; t++) {
        char *path = o->feature_path[count];
        rc = find_rows(o, "node-feat", o->type_name[t], "node-feat", &o->features, path, err);
        if (rc == ERROR_NONE && path[0])
            rows[count++] = (struct typed_rows){
                .type = t, .count = typed_graph_type_size(o->graph, t), .path = path};
    }
    return rc == ERROR_NONE ? typed_graph_push_features(o->graph, rows, count, err) : rc;
}

static enum error_code take_labels(const struct ogb_types *o, uint32_t t, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const struct typed_rows rows = {
        .type = t, .count = typed_graph_type_size(o->graph, t), .path = path};
    const enum error_code rc =
        find_rows(o, "node-label", o->type_name[t], "node-label", &o->labels, path, err);
    return rc == ERROR_NONE && path[0] ? typed_graph_take_labels(o->graph, &rows, NULL, err) : rc;
}

/* Finds the nodes of a type in one split, in a text file or a torch file. `where` is for messages;
 * path is "" when there are none. */
static enum error_code find_split(const struct ogb_types *o, const char *folder, uint32_t t,
                                  enum split split, char path[FILE_PATH_SIZE],
                                  char where[FILE_PATH_SIZE], struct error *err)
{
    static const char *const stem[SPLIT_COUNT] = {"train", "valid", "test"};
    if (o->splits.file[split][0])
        return ogb_split_arrays_path(&o->splits, split, o->type_name[t], path, where, err);
    const enum error_code rc = input_files_find(folder, stem[split], endings, path, err);
    memcpy(where, path, FILE_PATH_SIZE);
    return rc;
}

static enum error_code take_splits(const struct ogb_types *o, const char *split_folder, uint32_t t,
                                   struct error *err)
{
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE], where[FILE_PATH_SIZE];
    enum error_code rc = file_path(folder, err, "%s/%s", split_folder, o->type_name[t]);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        struct integer_column nodes = {0};
        rc = find_split(o, folder, t, (enum split)s, path, where, err);
        if (rc == ERROR_NONE && path[0])
            rc = integer_column_read(&nodes, path, typed_graph_type_size(o->graph, t), err);
        if (rc == ERROR_NONE && path[0])
            rc = typed_graph_take_split(o->graph, t, (enum split)s, where, nodes.first_line,
                                        nodes.value, nodes.count, err);
        integer_column_release(&nodes);
    }
    return rc;
}

static enum error_code take_targets(struct ogb_types *o, struct error *err)
{
    char folder[FILE_PATH_SIZE];
    if (pipeline_gives_edges(o->settings) && !o->settings->ingest.edge_file[SPLIT_TEST][0])
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_split is given, but ingest.test_edges is empty, and the "
                         "splits of links of several node types are not read (%s/split): expected "
                         "a file with a line `source,target,type` an edge",
                         o->settings->ingest.path);
    enum error_code rc =
        ogb_split_find(o->settings->ingest.path, o->settings->ingest.split_name, folder, err);
    if (rc == ERROR_NONE && !pipeline_reads_targets(o->settings))
        folder[0] = '\0';
    if (rc == ERROR_NONE)
        rc = ogb_split_arrays_find(&o->splits, folder, err);
    if (rc == ERROR_NONE)
        rc = ogb_split_arrays_open(&o->splits, o->builder, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < o->type_count; t++) {
        rc = take_labels(o, t, err);
        if (rc == ERROR_NONE && folder[0])
            rc = take_splits(o, folder, t, err);
    }
    return rc == ERROR_NONE ? typed_graph_push_targets(o->graph, err) : rc;
}

static enum error_code read_all(struct ogb_types *o, struct error *err)
{
    bool found = false;
    enum error_code rc = typed_graph_new(o->settings, o->builder, o->types, &o->graph, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&o->relation, EDGE_TYPE_COUNT_MAX, "the names of relations", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&o->feature_path, NODE_TYPE_COUNT_MAX, "paths of features", err);
    if (rc == ERROR_NONE)
        rc = read_types(o, err);
    if (rc == ERROR_NONE && o->is_binary)
        rc = unpack(o, 2, "node_feat", &o->features, &found, err);
    if (rc == ERROR_NONE && o->is_binary)
        rc = unpack(o, 3, "node-label", &o->labels, &found, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_declare(o->graph,
                                 ogb_direction_of(o->settings->ingest.path) == STATED_UNDIRECTED
                                     ? STATED_UNDIRECTED
                                     : STATED_DIRECTED,
                                 err);
    if (rc == ERROR_NONE)
        rc = push_edges(o, err);
    if (rc == ERROR_NONE)
        rc = push_features(o, err);
    return rc == ERROR_NONE ? take_targets(o, err) : rc;
}

enum error_code ogb_types_run(const struct pipeline_settings *settings, const char *raw,
                              struct dataset_builder *builder, struct error *err)
{
    struct ogb_types *o = NULL;
    enum error_code rc = memory_new(&o, 1, "the types of an OGB data set", err);
    if (rc != ERROR_NONE)
        return rc;
    o->settings = settings;
    o->builder = builder;
    o->raw = raw;
    rc = read_all(o, err);
    rc = npz_folder_blame(&o->counts, rc, err);
    rc = npz_folder_blame(&o->edges, rc, err);
    rc = npz_folder_blame(&o->features, rc, err);
    rc = npz_folder_blame(&o->labels, rc, err);
    rc = ogb_split_arrays_blame(&o->splits, rc, err);
    typed_graph_free(o->graph);
    memory_free(o->relation);
    memory_free(o->feature_path);
    memory_free(o);
    return rc;
}
