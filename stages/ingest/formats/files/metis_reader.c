/*
 * metis_reader - an undirected graph in the format of METIS and Chaco (format: metis).
 *
 *   % comments
 *   nodes edges [fmt [constraints]]     fmt: three digits, 1 if there are vertex sizes, vertex
 *                                       weights, edge weights
 *   [size] [weight ...] v1 [w1] v2 [w2] ...       line i is node i: its neighbours, from 1
 *
 * An edge is in the lines of both its ends, with the same weight. An edge that is in one line only
 * is refused. Sizes and weights of nodes are skipped. Plain or gzip. Labels, features and splits
 * are in files beside it (node_files.h), which use the node numbers of this file.
 *
 * Format: METIS 5 manual, section 4.1.1.
 */
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/formats/columns/numbered_nodes.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <inttypes.h>

enum { HEADER_FIELDS = 4 };

struct metis_file { /* the state of one run */
    const char *path;
    struct line_reader *reader;
    uint64_t nodes, edges;
    bool has_sizes, has_edge_weights;
    int64_t node_weights; /* how many numbers precede the neighbours */
    uint64_t node;        /* the node of the current line, from 1 */
    uint64_t ends;        /* number of ends read */
    /* sums of the hashes of the edges in the lines of their lower ends, and in those of their
     * higher ends */
    uint64_t low, high;
    struct edge_buffer buffer;
};

/* Returns the hash of an edge and its weight, for a sum over the lower ends and one over the higher
 * ends: the sums are equal if each edge is in both lines. */
static uint64_t edge_hash(uint64_t low, uint64_t high, int64_t weight)
{
    const uint64_t edge[3] = {low, high, (uint64_t)weight};
    return checksum_64(edge, sizeof edge);
}

static enum error_code unexpected(const struct metis_file *m, const struct text_line *line,
                                  const char *expected, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s, found '%.*s'", m->path,
                     line->number, expected, line->size < 60 ? (int)line->size : 60, line->text);
}

/* Reads the next line. An empty line is a node without neighbours; comments are skipped. */
static enum error_code next_line(struct metis_file *m, struct text_line *line, bool *found,
                                 struct error *err)
{
    enum error_code rc;
    do
        rc = line_reader_next(m->reader, line, found, err);
    while (rc == ERROR_NONE && *found && line->size && line->text[0] == '%');
    return rc;
}

/* Parses "011": no sizes, node weights, edge weights. */
static bool take_form(struct metis_file *m, const struct field *form)
{
    for (size_t i = 0; i < form->size; i++)
        if ((form->text[i] != '0' && form->text[i] != '1') || form->size > 3)
            return false;
    const size_t size = form->size;
    m->has_edge_weights = size >= 1 && form->text[size - 1] == '1';
    m->node_weights = size >= 2 && form->text[size - 2] == '1' ? 1 : 0;
    m->has_sizes = size >= 3 && form->text[size - 3] == '1';
    return true;
}

static enum error_code take_header(struct metis_file *m, const struct text_line *line,
                                   struct error *err)
{
    struct field field[HEADER_FIELDS];
    int64_t nodes = 0, edges = 0, constraints = 1;
    const size_t count =
        delimited_split(line->text, line->size, DELIMITER_BLANKS, field, HEADER_FIELDS);
    if (count < 2 || count > HEADER_FIELDS || !text_int64(field[0].text, field[0].size, &nodes) ||
        !text_int64(field[1].text, field[1].size, &edges) || nodes < 1 || edges < 0)
        return unexpected(m, line, "the numbers of nodes and edges", err);
    if (count >= 3 && !take_form(m, &field[2]))
        return unexpected(m, line, "three digits 0 or 1 after nodes and edges", err);
    if (count == 4 && (!text_int64(field[3].text, field[3].size, &constraints) || constraints < 1 ||
                       constraints > 1000))
        return unexpected(m, line, "the number of weights that a node has", err);
    m->node_weights *= constraints;
    m->nodes = (uint64_t)nodes;
    m->edges = (uint64_t)edges;
    return ERROR_NONE;
}

/* Pushes the edge if this is the line of its lower end. */
static enum error_code take_neighbor(struct metis_file *m, const struct text_line *line,
                                     int64_t neighbor, int64_t weight, struct error *err)
{
    const uint64_t other = (uint64_t)neighbor;
    const float value = (float)weight;
    const struct edge_columns_view columns = {.width = m->buffer.columns.width,
                                              .data = {[EDGE_WEIGHT] = &value}};
    if (neighbor < 1 || other > m->nodes || other == m->node)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected neighbours of node %" PRIu64
                         ", which are other nodes from 1 to %" PRIu64 ", found %" PRId64,
                         m->path, line->number, m->node, m->nodes, neighbor);
    m->ends++;
    if (other < m->node) {
        m->high += edge_hash(other, m->node, weight);
        return ERROR_NONE;
    }
    m->low += edge_hash(m->node, other, weight);
    const struct float_place place = {.path = m->path, .line = line->number, .name = "weight"};
    float_loss_note_int64(&dataset_builder_notes(m->buffer.builder)->loss, &place, weight);
    return edge_buffer_add(&m->buffer, line->number, (int64_t)m->node - 1, neighbor - 1, &columns,
                           err);
}

static enum error_code take_node(struct metis_file *m, const struct text_line *line,
                                 struct error *err)
{
    struct delimited cursor;
    struct field field;
    int64_t skipped = m->node_weights + (m->has_sizes ? 1 : 0);
    enum error_code rc = ERROR_NONE;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_BLANKS);
    while (rc == ERROR_NONE && delimited_next(&cursor, &field) && field.size) {
        int64_t number = 0, weight = 1;
        if (!text_int64(field.text, field.size, &number))
            return unexpected(m, line, "whole numbers", err);
        if (skipped-- > 0)
            continue;
        if (m->has_edge_weights && (!delimited_next(&cursor, &field) ||
                                    !text_int64(field.text, field.size, &weight) || weight < 0))
            return unexpected(m, line, "a weight after each neighbour", err);
        rc = take_neighbor(m, line, number, weight, err);
    }
    return rc == ERROR_NONE && skipped > 0
               ? unexpected(m, line, "the weights of a node before its neighbours", err)
               : rc;
}

static enum error_code check_edges(const struct metis_file *m, struct error *err)
{
    if (m->ends != 2 * m->edges)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %" PRIu64 " edges, each at both its ends, found %" PRIu64
                         " ends",
                         m->path, m->edges, m->ends);
    if (m->low != m->high)
        return error_set(err, ERROR_INPUT,
                         "%s: expected each edge in the lines of both its ends%s, found one that "
                         "is in only one of them",
                         m->path, m->has_edge_weights ? ", with the same weight" : "");
    return ERROR_NONE;
}

static enum error_code push_edges(struct metis_file *m, struct dataset_builder *builder,
                                  struct error *err)
{
    struct edge_widths width = {0};
    struct text_line line;
    bool found = true;
    width.of[EDGE_WEIGHT] = m->has_edge_weights ? 1 : 0;
    enum error_code rc = edge_buffer_init(&m->buffer, builder, m->path, &width, err);
    for (m->node = 1; rc == ERROR_NONE; m->node++) {
        rc = next_line(m, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (m->node <= m->nodes)
            rc = take_node(m, &line, err);
        else if (line.size)
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected %" PRIu64 " lines of nodes, found more",
                           m->path, line.number, m->nodes);
    }
    if (rc == ERROR_NONE && m->node <= m->nodes)
        rc = error_set(err, ERROR_INPUT, "%s: expected %" PRIu64 " lines of nodes, found %" PRIu64,
                       m->path, m->nodes, m->node - 1);
    if (rc == ERROR_NONE)
        rc = check_edges(m, err);
    return rc == ERROR_NONE ? edge_buffer_flush(&m->buffer, err) : rc;
}

static enum error_code open_file(struct metis_file *m, struct error *err)
{
    struct text_line line;
    bool found = false;
    enum error_code rc = line_reader_open(m->path, &m->reader, err);
    if (rc == ERROR_NONE)
        rc = next_line(m, &line, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_INPUT, "%s: expected a graph, found an empty file", m->path);
    return rc == ERROR_NONE ? take_header(m, &line, err) : rc;
}

static enum error_code metis_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                 struct dataset_builder *builder, struct error *err)
{
    struct metis_file m = {.path = settings->ingest.path};
    struct named_nodes nodes = {0};
    enum error_code rc = open_file(&m, err);
    if (rc == ERROR_NONE)
        rc = numbered_nodes_begin(&nodes, m.nodes, STATED_UNDIRECTED, m.path, memory_bytes, builder,
                                  err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_expect_edges(builder, m.edges, err);
    if (rc == ERROR_NONE)
        rc = push_edges(&m, builder, err);
    if (rc == ERROR_NONE)
        rc = numbered_nodes_push_files(&nodes, settings, builder, err);
    edge_buffer_release(&m.buffer);
    named_nodes_release(&nodes);
    line_reader_close(m.reader);
    return rc;
}

const struct input_format metis_format = {
    .is_file = true,
    .advice = {ADVICE_NODE_FILES},
    .form = "mend it so that the line of nodes and edges is followed by a line for each node with "
            "its neighbours, numbered from 1; each edge is in two lines",
    .run = metis_run,
};
