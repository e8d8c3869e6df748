/*
 * hgb_reader - a graph of several types in the form of the Heterogeneous Graph Benchmark: a folder
 * of text files whose columns are separated by tabs (format: hgb).
 *
 *   node.dat         id, name, type[, features]    0 <tab> Ann <tab> 0 <tab> 0.5,1,0; ids from 0,
 *                                                  types from 0
 *   link.dat         source, target, type[, weight]
 *   label.dat        id, name, type, classes       training nodes; `0,3` are two classes of a node,
 *                                                  and the task has several labels
 *   label.dat.test   the same                      test nodes; there is no validation split:
 *                                                  `split: random 60/20/20` makes one
 *   link.dat.test    links of the test, with ingest.edge_split: given
 *
 * All links of a type join the same two node types. Types and relations are named by their numbers.
 * Nodes are ordered by type; if the ids are not, outputs still have the ids. Format:
 * https://github.com/THUDM/HGB.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/formats/collections/hgb_nodes.h"
#include "stages/ingest/formats/folders/typed_graph.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Columns of links and of labels. */
enum { SOURCE, TARGET, LINK_TYPE, WEIGHT };
enum { LABELLED_ID, LABELLED_NAME, LABELLED_TYPE, CLASSES };
enum { NO_TYPE = -1, HGB_CLASSES_MAX = 4096 };

struct hgb { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    struct hgb_nodes nodes;
    struct typed_graph *graph;
    char links[FILE_PATH_SIZE], held_links[FILE_PATH_SIZE]; /* "": no such file */
    char labels[SPLIT_COUNT][FILE_PATH_SIZE];
    const char *path; /* path of the current file */
    /* The links, by type. */
    int source_type[EDGE_TYPE_COUNT_MAX], target_type[EDGE_TYPE_COUNT_MAX];
    uint32_t type_count;
    bool has_weights, has_no_weights;
    struct edge_buffer buffer;
    /* The labels. */
    uint32_t class_count;
    bool has_lists;
    enum split split;
    char *marks; /* "0,1,0": room for the classes of a node as columns */
};

/* --- links --- */

static enum error_code read_ends(const struct hgb *h, const struct field *field, int64_t line,
                                 int64_t end[2], int64_t *type, struct error *err)
{
    enum error_code rc =
        hgb_number(h->path, line, "source", &field[SOURCE], h->nodes.count, &end[0], err);
    if (rc == ERROR_NONE)
        rc = hgb_number(h->path, line, "target", &field[TARGET], h->nodes.count, &end[1], err);
    return rc == ERROR_NONE ? hgb_number(h->path, line, "link type", &field[LINK_TYPE],
                                         EDGE_TYPE_COUNT_MAX, type, err)
                            : rc;
}

/* Notes a link; the first link of a type determines which node types it joins. */
static enum error_code note_link(void *context, const struct field *field, size_t count,
                                 int64_t line, struct error *err)
{
    struct hgb *h = context;
    int64_t end[2] = {0}, type = 0;
    const enum error_code rc = read_ends(h, field, line, end, &type, err);
    if (rc != ERROR_NONE)
        return rc;
    const int source = h->nodes.type[end[0]], target = h->nodes.type[end[1]];
    for (; h->type_count <= type; h->type_count++)
        h->source_type[h->type_count] = h->target_type[h->type_count] = NO_TYPE;
    if (h->source_type[type] == NO_TYPE) {
        h->source_type[type] = source;
        h->target_type[type] = target;
    }
    *(count > WEIGHT ? &h->has_weights : &h->has_no_weights) = true;
    if (source == h->source_type[type] && target == h->target_type[type])
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a link of type %" PRId64 " from a node of type %d "
                     "to one of type %d as its first, found one from type %d to type %d",
                     h->path, line, type, h->source_type[type], h->target_type[type], source,
                     target);
}

static enum error_code push_link(void *context, const struct field *field, size_t count,
                                 int64_t line, struct error *err)
{
    struct hgb *h = context;
    int64_t end[2] = {0}, type = 0;
    double weight = 1.0;
    enum error_code rc = read_ends(h, field, line, end, &type, err);
    if (rc == ERROR_NONE && count > WEIGHT &&
        (!text_double(field[WEIGHT].text, field[WEIGHT].size, &weight) || !isfinite((float)weight)))
        rc = error_set(
            err, ERROR_INPUT,
            "%s:%" PRId64 ": weight: expected a finite number, found '%.*s'" ADVISE_NUMBER, h->path,
            line, field[WEIGHT].size < 40 ? (int)field[WEIGHT].size : 40, field[WEIGHT].text);
    const uint16_t number = (uint16_t)type;
    const float single = (float)weight;
    const struct edge_columns_view value = {
        .width = h->buffer.columns.width, .data = {[EDGE_WEIGHT] = &single, [EDGE_TYPE] = &number}};
    return rc == ERROR_NONE ? edge_buffer_add(&h->buffer, line, h->nodes.number[end[0]],
                                              h->nodes.number[end[1]], &value, err)
                            : rc;
}

static enum error_code hold_link(void *context, const struct field *field, size_t count,
                                 int64_t line, struct error *err)
{
    struct hgb *h = context;
    int64_t end[2] = {0}, type = 0;
    (void)count;
    const enum error_code rc = read_ends(h, field, line, end, &type, err);
    if (rc != ERROR_NONE)
        return rc;
    if (type >= (int64_t)h->type_count || h->nodes.type[end[0]] != h->source_type[type] ||
        h->nodes.type[end[1]] != h->target_type[type])
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a link of a type of %s, between the node types "
                         "of that, found one of type %" PRId64,
                         h->path, line, h->links, type);
    const struct given_edge held = {.where = h->path,
                                    .line = line,
                                    .source = h->nodes.number[end[0]],
                                    .target = h->nodes.number[end[1]],
                                    .type = (uint16_t)type};
    return dataset_builder_hold_out(h->builder, HELD_OUT_TEST, &held, err);
}

/* Declares the types. Their names are numbers, so a relation is called `0:3:1`: type 3 from node
 * type 0 to 1. */
static enum error_code declare(struct hgb *h, struct error *err)
{
    char name[64];
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < h->nodes.type_count; t++) {
        (void)snprintf(name, sizeof name, "%" PRIu32, t);
        rc = typed_graph_add_type(h->graph, 0, name, h->nodes.type_size[t], err);
    }
    for (uint32_t r = 0; rc == ERROR_NONE && r < h->type_count; r++) {
        (void)snprintf(name, sizeof name, "%d:%" PRIu32 ":%d", h->source_type[r], r,
                       h->target_type[r]);
        if (h->source_type[r] == NO_TYPE)
            return error_set(err, ERROR_INPUT,
                             "%s: expected links of each type from 0 to %" PRIu32
                             ", found none of type %" PRIu32,
                             h->links, h->type_count - 1, r);
        rc = typed_graph_add_relation(h->graph, 0, name, err);
    }
    return rc == ERROR_NONE ? typed_graph_declare(h->graph, STATED_DIRECTED, err) : rc;
}

static enum error_code visit_links(struct hgb *h, const char *path, hgb_visitor visit,
                                   struct error *err)
{
    h->path = path;
    return hgb_visit(path, LINK_TYPE + 1, visit, h, err);
}

static enum error_code read_types(struct hgb *h, struct error *err)
{
    enum error_code rc = visit_links(h, h->links, note_link, err);
    if (rc == ERROR_NONE && h->type_count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line a link, found none", h->links);
    if (rc == ERROR_NONE && h->has_weights && h->has_no_weights)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected a weight in each line or in none, found it in some", h->links);
    return rc == ERROR_NONE ? declare(h, err) : rc;
}

static enum error_code push_links(struct hgb *h, struct error *err)
{
    struct edge_widths width = {0};
    width.of[EDGE_WEIGHT] = h->has_weights ? 1 : 0;
    width.of[EDGE_TYPE] = typed_graph_has_types(h->graph) ? 1 : 0;
    enum error_code rc = edge_buffer_init(&h->buffer, h->builder, h->links, &width, err);
    if (rc == ERROR_NONE)
        rc = visit_links(h, h->links, push_link, err);
    if (rc == ERROR_NONE)
        rc = edge_buffer_flush(&h->buffer, err);
    if (rc != ERROR_NONE || !pipeline_gives_edges(h->settings) ||
        h->settings->ingest.edge_file[SPLIT_TEST][0])
        return rc;
    return h->held_links[0]
               ? visit_links(h, h->held_links, hold_link, err)
               : error_set(err, ERROR_INPUT,
                           "%s/link.dat.test is not there, but ingest.edge_split is given: " ADVICE
                           "add it, "
                           "or name a file by ingest.test_edges",
                           h->settings->ingest.path);
}

/* --- labels --- */

static enum error_code read_classes(struct hgb *h, const struct field *classes, int64_t line,
                                    bool notes, struct error *err)
{
    struct delimited list;
    struct field one;
    size_t found = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t c = 0; !notes && c < h->class_count; c++)
        h->marks[(size_t)2 * c] = '0';
    delimited_begin(&list, classes->text, classes->size, DELIMITER_COMMA);
    for (; rc == ERROR_NONE && delimited_next(&list, &one); found++) {
        int64_t class = 0;
        rc = hgb_number(h->path, line, "class", &one, HGB_CLASSES_MAX, &class, err);
        if (rc == ERROR_NONE && notes && class >= (int64_t)h->class_count)
            h->class_count = (uint32_t) class + 1;
        if (rc == ERROR_NONE && !notes)
            h->marks[2 * class] = '1';
    }
    h->has_lists |= found > 1;
    return rc;
}

static enum error_code note_label(void *context, const struct field *field, size_t count,
                                  int64_t line, struct error *err)
{
    (void)count;
    return read_classes(context, &field[CLASSES], line, true, err);
}

static enum error_code push_label(void *context, const struct field *field, size_t count,
                                  int64_t line, struct error *err)
{
    struct hgb *h = context;
    struct field label = field[CLASSES];
    int64_t id = 0;
    (void)count;
    enum error_code rc =
        hgb_number(h->path, line, "node id", &field[LABELLED_ID], h->nodes.count, &id, err);
    if (rc == ERROR_NONE && h->has_lists) {
        rc = read_classes(h, &field[CLASSES], line, false, err);
        label = (struct field){h->marks, (size_t)2 * h->class_count - 1};
    }
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t type = (uint32_t)h->nodes.type[id];
    const int64_t row = (int64_t)(h->nodes.number[id] - h->nodes.type_first[type]);
    rc = typed_graph_take_label(h->graph, type, (uint64_t)row, &label, h->path, line, err);
    return rc == ERROR_NONE
               ? typed_graph_take_split(h->graph, type, h->split, h->path, line, &row, 1, err)
               : rc;
}

static enum error_code visit_labels(struct hgb *h, hgb_visitor visit, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        h->path = h->labels[s];
        h->split = (enum split)s;
        if (h->path[0])
            rc = hgb_visit(h->path, CLASSES + 1, visit, h, err);
    }
    return rc;
}

static enum error_code push_labels(struct hgb *h, struct error *err)
{
    if (!pipeline_reads_targets(h->settings))
        return ERROR_NONE;
    enum error_code rc = visit_labels(h, note_label, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&h->marks, (size_t)2 * h->class_count + 1, "the classes of a node", err);
    for (uint32_t c = 0; rc == ERROR_NONE && c < h->class_count; c++)
        h->marks[(size_t)2 * c + 1] = ',';
    return rc == ERROR_NONE ? visit_labels(h, push_label, err) : rc;
}

/* --- the folder --- */

static enum error_code find_file(const struct hgb *h, const char *name, bool is_needed,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    bool is_there = false;
    enum error_code rc = file_path(path, err, "%s/%s", h->settings->ingest.path, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &is_there, err);
    if (rc == ERROR_NONE && !is_there && is_needed)
        return error_set(err, ERROR_NOT_FOUND,
                         "%s is not there: the format hgb has node.dat and link.dat", path);
    if (!is_there)
        path[0] = '\0';
    return rc;
}

static enum error_code find_files(struct hgb *h, char nodes[FILE_PATH_SIZE], struct error *err)
{
    enum error_code rc = find_file(h, "node.dat", true, nodes, err);
    if (rc == ERROR_NONE)
        rc = find_file(h, "link.dat", true, h->links, err);
    if (rc == ERROR_NONE)
        rc = find_file(h, "link.dat.test", false, h->held_links, err);
    if (rc == ERROR_NONE)
        rc = find_file(h, "label.dat", false, h->labels[SPLIT_TRAIN], err);
    return rc == ERROR_NONE ? find_file(h, "label.dat.test", false, h->labels[SPLIT_TEST], err)
                            : rc;
}

/* Refuses files beside the folder if nodes are renumbered by type, because such files would name
 * nodes by the new numbers. */
static enum error_code check_edge_files(const struct hgb *h, struct error *err)
{
    bool any = false;
    for (int s = 0; s < SPLIT_SHARE_COUNT; s++)
        any |= h->settings->ingest.edge_file[s][0] || h->settings->ingest.negative_file[s][0];
    if (!any || h->nodes.are_in_order || pipeline_reads_targets(h->settings))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s: expected nodes in the order of their types, since files of edges name "
                     "them by number, found another order: " ADVICE
                     "use link.dat.test, or `edge_split: random 85/5/10`",
                     h->nodes.path);
}

static enum error_code read_all(struct hgb *h, struct error *err)
{
    char nodes[FILE_PATH_SIZE];
    enum error_code rc = find_files(h, nodes, err);
    if (rc == ERROR_NONE)
        rc = typed_graph_new(h->settings, h->builder, h->links, &h->graph, err);
    if (rc == ERROR_NONE)
        rc = hgb_nodes_read(nodes, &h->nodes, err);
    if (rc == ERROR_NONE)
        rc = read_types(h, err);
    if (rc == ERROR_NONE)
        rc = hgb_nodes_set_ids(&h->nodes, h->builder, err);
    if (rc == ERROR_NONE)
        rc = check_edge_files(h, err);
    if (rc == ERROR_NONE)
        rc = push_links(h, err);
    if (rc == ERROR_NONE)
        rc = hgb_nodes_push_features(&h->nodes, h->settings->ingest.relations, h->builder, err);
    if (rc == ERROR_NONE)
        rc = push_labels(h, err);
    return rc == ERROR_NONE ? typed_graph_push_targets(h->graph, err) : rc;
}

static enum error_code hgb_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                               struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct hgb *h = NULL;
    enum error_code rc = memory_new(&h, 1, "the files of HGB", err);
    if (rc != ERROR_NONE)
        return rc;
    h->settings = settings;
    h->builder = builder;
    rc = read_all(h, err);
    edge_buffer_release(&h->buffer);
    hgb_nodes_release(&h->nodes);
    typed_graph_free(h->graph);
    memory_free(h->marks);
    memory_free(h);
    return rc;
}

const struct input_format hgb_format = {
    .endings = {".dat", ".dat.test"},
    .advice = {"add label.dat with a line of id, name, type and class for each training node",
               ADVICE_RANDOM_SPLIT},
    .run = hgb_run,
};
