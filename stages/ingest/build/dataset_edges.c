#include "stages/ingest/build/dataset_edges.h"

#include "common/base/memory.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/edges/edge_sorter.h"
#include "stages/ingest/build/memory_held.h"
#include "stages/ingest/build/nodes/graph_members.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PROGRESS_ROWS = 1 << 16 };

enum error_code dataset_edges_open(struct dataset_edges *edges, struct dataset_schema *schema,
                                   const struct pipeline_settings *settings, const char *path,
                                   struct error *err)
{
    *edges = (struct dataset_edges){
        .schema = schema,
        .settings = settings,
        .self_loops = (enum edge_policy)settings->ingest.self_loops,
        .duplicates = (enum edge_policy)settings->ingest.duplicates,
        .reversed = settings->ingest.direction == DIRECTION_REVERSED,
        .adds_reverses = settings->ingest.relations && settings->ingest.add_reverse,
        .scale = {.kind = (enum weight_scale_kind)settings->ingest.weight_scale},
    };
    enum error_code rc =
        memory_new(&edges->in_degree, schema->node_count, "in-degrees of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&edges->is_linked, schema->node_count / 8 + 1, "marks of nodes", err);
    if (rc == ERROR_NONE)
        rc = edge_labels_init(&edges->labels, settings, err);
    if (rc == ERROR_NONE && task_has(settings->ingest.task, TASK_RANKS) && !schema->has_relations)
        rc = edge_sides_open(&edges->sides, schema->node_count, err);
    return rc == ERROR_NONE ? edge_spool_open(&edges->spool, path, err) : rc;
}

void dataset_edges_close(struct dataset_edges *edges)
{
    edge_chunk_writer_release(&edges->writer);
    edge_holdout_release(&edges->holdout);
    edge_labels_release(&edges->labels);
    edge_spool_close(&edges->spool);
    weight_scale_release(&edges->scale);
    edge_columns_release(&edges->last);
    input_lines_release(&edges->lines);
    reverse_detector_close(&edges->reversals);
    edge_sides_close(&edges->sides);
    memory_free(edges->no_type);
    memory_free(edges->is_linked);
    memory_free(edges->in_degree);
    memory_free(edges->out_degree);
    *edges = (struct dataset_edges){0};
}

const uint32_t *dataset_edges_out_degree(const struct dataset_edges *edges)
{
    return edges->schema->undirected ? edges->in_degree : edges->out_degree;
}

/* ---- taking edges ---------------------------------------------------------------------------- */

static enum error_code check_id(const struct dataset_edges *edges, const char *what, int64_t id,
                                struct error *err)
{
    if (id >= 0 && id < edges->schema->node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s %" PRId64 " is out of range: expected a node id from 0 to %u" ADVISE_NODE,
                     what, id, edges->schema->node_count - 1);
}

uint32_t dataset_edges_given_types(const struct dataset_edges *edges)
{
    return edges->adds_reverses ? edges->schema->edge_type_count / 2
                                : edges->schema->edge_type_count;
}

static enum error_code check_end(const struct dataset_edges *edges, const char *what, int64_t node,
                                 const char *relation, uint32_t type, struct error *err)
{
    const struct node_type *expected = &edges->schema->node_type[type];
    if (node >= expected->first_node && node - expected->first_node < expected->node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s %" PRId64 " of relation %s: expected a node of type %s (%u to %" PRId64
                     "), found one of type %s",
                     what, node, relation, expected->name, expected->first_node,
                     (int64_t)expected->first_node + expected->node_count - 1,
                     edges->schema->node_type[dataset_type_of(edges->schema, (uint32_t)node)].name);
}

/* Checks that both ends have the types that the relation connects. */
static enum error_code check_ends(const struct dataset_edges *edges, const struct edge_piece *piece,
                                  size_t i, struct error *err)
{
    const uint16_t *type = piece->columns.data[EDGE_TYPE];
    const struct edge_type *relation = &edges->schema->edge_type[type ? type[i] : 0];
    if (!edges->schema->has_relations)
        return ERROR_NONE;
    const enum error_code rc =
        check_end(edges, "source", piece->source[i], relation->name, relation->source_type, err);
    return rc == ERROR_NONE ? check_end(edges, "target", piece->target[i], relation->name,
                                        relation->target_type, err)
                            : rc;
}

static enum error_code check_attributes(const struct dataset_edges *edges,
                                        const struct edge_piece *piece, size_t i, struct error *err)
{
    double value = 0.0;
    const enum edge_column found = edge_columns_not_finite(&piece->columns, i, &value);
    if (found != EDGE_COLUMN_COUNT)
        return error_set(err, ERROR_INPUT, "the %s is %g: expected a finite number" ADVISE_NUMBER,
                         edge_column[found].what, value);
    const uint16_t *type = piece->columns.data[EDGE_TYPE];
    if (type && type[i] >= dataset_edges_given_types(edges))
        return error_set(err, ERROR_INPUT,
                         "edge type %u is out of range: expected an edge type from 0 to %u",
                         type[i], dataset_edges_given_types(edges) - 1);
    return check_ends(edges, piece, i, err);
}

static enum error_code count_end(struct dataset_edges *edges, uint32_t node, struct error *err)
{
    if (edges->in_degree[node] == UINT32_MAX)
        return error_set(err, ERROR_INPUT, "more than %u edges end in node %u", UINT32_MAX, node);
    edges->in_degree[node]++;
    return ERROR_NONE;
}

/* Counts an edge. A self loop that is removed still goes to the spool, so that the position of an
 * edge in the spool gives its line. */
static enum error_code count_edge(struct dataset_edges *edges, uint32_t source, uint32_t target,
                                  struct error *err)
{
    const bool loop = source == target;
    if (loop && edges->self_loops == EDGES_REFUSE)
        return error_set(err, ERROR_INPUT,
                         "node %u has an edge to itself: expected none (ingest.self_loops: refuse)",
                         source);
    if (loop && edges->self_loops == EDGES_REMOVE) {
        edges->schema->removed_self_loops++;
        return ERROR_NONE;
    }
    enum error_code rc = count_end(edges, target, err);
    if (rc == ERROR_NONE && (edges->adds_reverses || (edges->schema->undirected && !loop)))
        rc = count_end(edges, source, err);
    return rc;
}

/* Notes the weight of an edge, and the line of the first negative weight. The rank of a weight is
 * never negative, so ranks need no line. */
static enum error_code note_weight(struct dataset_edges *edges, const struct edge_piece *piece,
                                   size_t i, struct error *err)
{
    const float *weight = piece->columns.data[EDGE_WEIGHT];
    if (!weight)
        return ERROR_NONE;
    if (weight[i] < 0 && edges->scale.kind != WEIGHTS_RANK &&
        edges->schema->negative_weight_count++ == 0)
        input_lines_place(edges->schema->first_negative_weight,
                          sizeof edges->schema->first_negative_weight, piece->where,
                          piece->first_line + (int64_t)i);
    return weight_scale_note(&edges->scale, weight[i], err);
}

/* Returns whether an edge equals the one before it. It would be removed later, so it need not be
 * spooled. A small compressed file with one edge a billion times therefore takes neither disk nor
 * memory. */
static bool repeats_last(const struct dataset_edges *edges, uint32_t source, uint32_t target,
                         const struct edge_columns_view *columns, size_t i)
{
    if (source != edges->last_source || target != edges->last_target || source == target ||
        !edges->has_last)
        return false;
    const struct edge_columns_view last = edge_columns_read(&edges->last, 0);
    return edge_columns_compare(columns, i, &last, 0) == 0;
}

/* Shows an edge to the detector. An edge of a declared reverse counts as one of its forward
 * relation, turned round. */
static void note_direction(struct dataset_edges *edges, uint32_t source, uint32_t target,
                           const struct edge_columns_view *columns, size_t i)
{
    const uint16_t *type = columns->data[EDGE_TYPE];
    const struct relation_reverses *reverses = &edges->holdout.reverses;
    if (!edges->schema->has_relations || !type) {
        reverse_detector_add(&edges->reversals, source, target, 0);
        return;
    }
    edge_holdout_find_reverses(&edges->holdout);
    if (relation_is_forward(reverses, type[i]))
        reverse_detector_add(&edges->reversals, source, target, type[i]);
    else /* NOLINTNEXTLINE(readability-suspicious-call-argument): the way back */
        reverse_detector_add(&edges->reversals, target, source, reverses->forward[type[i]]);
}

/* Checks everything about an edge except its ends. */
static enum error_code check_edge(struct dataset_edges *edges, const struct edge_piece *piece,
                                  size_t i, struct error *err)
{
    enum error_code rc = check_attributes(edges, piece, i, err);
    if (rc == ERROR_NONE)
        rc = edge_labels_check(&edges->labels, piece, i, err);
    if (rc == ERROR_NONE && edges->graphs)
        rc = graph_members_check(edges->graphs, piece->source[i], piece->target[i], err);
    return rc == ERROR_NONE ? note_weight(edges, piece, i, err) : rc;
}

/* Returns whether edges have nothing but their ends to check: one graph, one relation, no
 * columns. */
static bool are_bare(const struct dataset_edges *edges)
{
    return edge_widths_bytes(&edges->spool.width) == 0 && !edges->labels.task && !edges->graphs &&
           !edges->schema->has_relations;
}

/* The counters of an edge's ends may be anywhere in memory. They are prefetched for so many edges
 * ahead. */
enum { EDGES_AHEAD = 64 };

static void ask_for(const struct dataset_edges *edges, const int64_t *id, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (id[i] >= 0 &&
            id[i] < edges->schema->node_count) { /* an id out of range is refused in its turn */
            __builtin_prefetch(&edges->in_degree[id[i]], 1);
            __builtin_prefetch(&edges->is_linked[id[i] / 8], 1);
        }
}

static enum error_code add_edge(struct dataset_edges *edges, const struct edge_piece *piece,
                                size_t i, bool is_bare, struct error *err)
{
    enum error_code rc = check_id(edges, "source", piece->source[i], err);
    if (rc == ERROR_NONE)
        rc = check_id(edges, "target", piece->target[i], err);
    if (rc == ERROR_NONE && !is_bare)
        rc = check_edge(edges, piece, i, err);
    if (rc != ERROR_NONE)
        return rc;
    const int64_t from = edges->reversed ? piece->target[i] : piece->source[i];
    const int64_t to = edges->reversed ? piece->source[i] : piece->target[i];
    const uint32_t source = (uint32_t)from, target = (uint32_t)to;
    if (edges->duplicates == EDGES_REMOVE &&
        repeats_last(edges, source, target, &piece->columns, i)) {
        edges->passed_over++;
        return ERROR_NONE;
    }
    edges->last_source = source;
    edges->last_target = target;
    edges->has_last = true;
    if (!is_bare)
        edge_columns_copy(&edges->last, 0, &piece->columns, i, 1);
    dataset_edges_note_link(edges, from, to);
    if (from != to && edges->reversals.slot)
        note_direction(edges, source, target, &piece->columns, i);
    rc = count_edge(edges, source, target, err);
    return rc == ERROR_NONE
               ? edge_spool_append(&edges->spool, source, target, &piece->columns, i, err)
               : rc;
}

/* Sets the columns by the first piece; all pieces must have the same ones. */
static enum error_code set_columns(struct dataset_edges *edges, const struct edge_widths *width,
                                   struct error *err)
{
    if (edges->spool.edge_count > 0 || edges->spool.piece) {
        must(edge_widths_equal(&edges->spool.width, width));
        return ERROR_NONE;
    }
    const enum error_code rc = edge_spool_set_widths(&edges->spool, width, err);
    return rc == ERROR_NONE
               ? edge_columns_new(&edges->last, width, 1, "the columns of an edge", err)
               : rc;
}

/* Gives a piece without relations the relation 0 for all edges, if ingest adds reverses: the edges
 * must then have a relation, because their reverses have another one. */
static enum error_code give_type(struct dataset_edges *edges, struct edge_piece *piece,
                                 struct error *err)
{
    if (!edges->adds_reverses || piece->columns.width.of[EDGE_TYPE])
        return ERROR_NONE;
    if (edges->no_type_count < piece->count) {
        memory_free(edges->no_type);
        edges->no_type_count = 0;
        const enum error_code rc =
            memory_new(&edges->no_type, piece->count, "the types of edges", err);
        if (rc != ERROR_NONE)
            return rc;
        edges->no_type_count = piece->count;
    }
    piece->columns.width.of[EDGE_TYPE] = 1;
    piece->columns.data[EDGE_TYPE] = edges->no_type;
    return ERROR_NONE;
}

enum error_code dataset_edges_add(struct dataset_edges *edges, const struct edge_piece *given,
                                  struct error *err)
{
    struct edge_piece typed = *given;
    const struct edge_piece *piece = &typed;
    if (piece->count == 0)
        return ERROR_NONE;
    enum error_code rc = give_type(edges, &typed, err);
    if (rc == ERROR_NONE)
        rc = edge_labels_give(&edges->labels, &typed, err);
    if (rc == ERROR_NONE)
        rc = set_columns(edges, &piece->columns.width, err);
    if (rc == ERROR_NONE &&
        edges->duplicates ==
            EDGES_REFUSE) /* later messages about edges need lines only in this case */
        rc = input_lines_add(&edges->lines, piece->where, piece->first_line, piece->count, err);
    progress_note("edges", edges->spool.edge_count, 0);
    const bool is_bare = are_bare(edges);
    for (size_t i = 0; rc == ERROR_NONE && i < piece->count; i++) {
        if (i % EDGES_AHEAD == 0) {
            const size_t left = piece->count - i, count = left < EDGES_AHEAD ? left : EDGES_AHEAD;
            ask_for(edges, piece->source + i, count);
            ask_for(edges, piece->target + i, count);
        }
        rc = add_edge(edges, piece, i, is_bare, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "%s:%" PRId64, piece->where,
                                 piece->first_line + (int64_t)i);
    }
    return rc;
}

/* Is called with edge `i` of a piece, which is the edge `index` of the input. */
typedef enum error_code (*spool_visitor)(void *context, uint64_t index,
                                         const struct spool_piece *piece, size_t i,
                                         struct error *err);

/* Visits all spooled edges in input order. */
static enum error_code walk_spool(struct dataset_edges *edges, spool_visitor visit, void *context,
                                  struct error *err)
{
    struct spool_piece piece;
    uint64_t next = 0;
    enum error_code rc = spool_piece_init(&piece, &edges->spool, err);
    if (rc == ERROR_NONE)
        rc = edge_spool_finish(&edges->spool, err);
    do {
        if (rc == ERROR_NONE)
            rc = edge_spool_read(&edges->spool, &piece, err);
        for (size_t i = 0; rc == ERROR_NONE && i < piece.count; i++)
            rc = visit(context, next + i, &piece, i, err);
        next += piece.count;
    } while (rc == ERROR_NONE && piece.count > 0);
    spool_piece_release(&piece);
    return rc;
}

/* Counts an edge at its source, too, where its reverse ends when it is stored both ways. */
static enum error_code count_back(void *context, uint64_t index, const struct spool_piece *piece,
                                  size_t i, struct error *err)
{
    (void)index;
    return piece->source[i] == piece->target[i] ? ERROR_NONE
                                                : count_end(context, piece->source[i], err);
}

enum error_code dataset_edges_watch_direction(struct dataset_edges *edges, bool asks_direction,
                                              struct error *err)
{
    const bool is_learnt = edges_back_asks(edges->settings) && !edges->schema->undirected;
    edges->asks_direction = asks_direction;
    return asks_direction || is_learnt ? reverse_detector_open(&edges->reversals, err) : ERROR_NONE;
}

enum error_code dataset_edges_settle(struct dataset_edges *edges, bool once_is_both, bool *one_way,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *one_way = edges->asks_direction && reverse_detector_is_one_way(&edges->reversals);
    if (*one_way && once_is_both) {
        edges->schema->undirected = true;
        rc = walk_spool(edges, count_back, edges, err);
    }
    if (rc == ERROR_NONE)
        rc =
            edges_back_settle(&edges->reversals, edges->settings, edges->schema, &edges->back, err);
    reverse_detector_close(&edges->reversals);
    return rc;
}

void dataset_edges_note_link(struct dataset_edges *edges, int64_t source, int64_t target)
{
    if (source != target || edges->self_loops != EDGES_REMOVE)
        edge_sides_note(&edges->sides, (uint32_t)source, (uint32_t)target);
    if (source == target)
        return;
    edges->is_linked[source / 8] |= (uint8_t)(1U << source % 8);
    edges->is_linked[target / 8] |= (uint8_t)(1U << target % 8);
}

uint64_t dataset_edges_isolated(const struct dataset_edges *edges)
{
    uint64_t isolated = 0;
    for (uint32_t node = 0; node < edges->schema->node_count; node++)
        isolated += !(edges->is_linked[node / 8] >> node % 8 & 1);
    return isolated;
}

/* ---- writing rows ---------------------------------------------------------------------------- */

static void count_stored(struct dataset_edges *edges, uint32_t node, const struct edge_row *row,
                         const uint64_t *order, uint32_t kept)
{
    struct dataset_schema *schema = edges->schema;
    const uint16_t *type = row->columns.data[EDGE_TYPE];
    const float *weight = row->columns.data[EDGE_WEIGHT];
    schema->edge_count += kept;
    for (uint32_t i = 0; i < kept; i++) {
        const uint32_t neighbor = (uint32_t)(order[i] >> 32);
        schema->self_loop_count += neighbor == node;
        if (weight)
            dataset_weights_note(schema, weight[(uint32_t)order[i]]);
        schema->edge_type[type ? type[(uint32_t)order[i]] : 0].edge_count++;
        if (edges->out_degree && edges->out_degree[neighbor] < UINT32_MAX)
            edges->out_degree[neighbor]++;
    }
}

static enum error_code store_row(void *context, uint32_t node, const struct edge_row *row,
                                 uint64_t *order, uint32_t kept, struct error *err)
{
    struct dataset_edges *edges = context;
    if (node % PROGRESS_ROWS == 0)
        progress_note("sorted edges", node, edges->schema->node_count);
    if (edges->holdout.is_wanted) {
        const enum error_code rc = edge_holdout_take(&edges->holdout, node, row, order, &kept, err);
        if (rc != ERROR_NONE)
            return rc;
        edges->in_degree[node] = kept;
    }
    count_stored(edges, node, row, order, kept);
    return edge_chunk_writer_add(&edges->writer, row, order, kept, err);
}

struct repetition { /* the first two edges that repeat each other */
    bool undirected;
    const struct edge_sorter *sorter; /* has the repeated edge */
    uint64_t index[2];
    int found;
};

static enum error_code note_repeated(void *context, uint64_t index, const struct spool_piece *piece,
                                     size_t i, struct error *err)
{
    struct repetition *repetition = context;
    const struct edge_sorter *sorter = repetition->sorter;
    const uint32_t source = piece->source[i], target = piece->target[i];
    const bool same = source == sorter->repeated_source && target == sorter->repeated_target;
    const bool back = repetition->undirected && source == sorter->repeated_target &&
                      target == sorter->repeated_source;
    const struct edge_columns_view columns = edge_columns_read(&piece->columns, 0);
    const struct edge_columns_view repeated = edge_columns_read(&sorter->repeated, 0);
    (void)err;
    if (repetition->found < 2 && (same || back) &&
        edge_columns_compare(&columns, i, &repeated, 0) == 0)
        repetition->index[repetition->found++] = index;
    return ERROR_NONE;
}

static enum error_code name_repeated(struct dataset_edges *edges, const struct edge_sorter *sorter,
                                     struct error *err)
{
    struct repetition repetition = {.undirected = edges->schema->undirected, .sorter = sorter};
    const char *where[2] = {NULL}, *what[2] = {NULL};
    int64_t line[2] = {0};
    const enum error_code rc = walk_spool(edges, note_repeated, &repetition, err);
    if (rc != ERROR_NONE)
        return rc;
    must(repetition.found == 2);
    for (int i = 0; i < 2; i++)
        what[i] = input_lines_find(&edges->lines, repetition.index[i], &where[i], &line[i])
                      ? ""
                      : "edge ";
    return error_set(err, ERROR_INPUT,
                     "%s:%s%" PRId64 ": the edge between %u and %u repeats that of %s:%s%" PRId64
                     ": expected none (ingest.duplicates: refuse)",
                     where[1], what[1], line[1], sorter->repeated_source, sorter->repeated_target,
                     where[0], what[0], line[0]);
}

static uint64_t sum_in_degrees(const struct dataset_edges *edges, uint64_t *largest)
{
    uint64_t sum = 0;
    *largest = 0;
    for (uint32_t i = 0; i < edges->schema->node_count; i++) {
        sum += edges->in_degree[i];
        *largest = edges->in_degree[i] > *largest ? edges->in_degree[i] : *largest;
    }
    return sum;
}

/* Computes the bytes that the budget leaves for sorting after one chunk and the buffers.
 * `later_bytes`: size of arrays that are allocated but not yet filled, so not yet resident. */
static enum error_code share_out(const struct dataset_edges *edges,
                                 const struct edge_chunk_needs *needs, uint64_t later_bytes,
                                 uint64_t budget, uint64_t *sorting, struct error *err)
{
    const uint64_t held = edges->counts_process ? memory_held_bytes() + later_bytes : 0;
    const uint64_t taken = SCRATCH_FILE_BUFFER_BYTES + edge_spool_piece_bytes(&edges->spool) +
                           edge_sorter_piece_bytes(&edges->spool, edges->pool) +
                           edge_chunk_writer_bytes(needs);
    const uint64_t least =
        held + taken + edge_sorter_bytes_of_row(&edges->spool, needs->largest_row);
    char have[32], want[32], chunk[32];
    if (budget <= least)
        return error_set(err, ERROR_NO_MEMORY,
                         "a chunk of edges and its buffers take %s%s: expected a memory budget "
                         "above %s, found %s: " ADVICE "give more --memory",
                         text_size(taken, chunk), held ? " beside what ingest holds by then" : "",
                         text_size(least, want), text_size(budget, have));
    *sorting = budget - held - taken;
    return ERROR_NONE;
}

enum error_code dataset_edges_expect(const struct dataset_edges *edges, uint64_t edge_count,
                                     uint64_t memory_bytes, struct error *err)
{
    const struct dataset_schema *schema = edges->schema;
    /* a chunk has fewer edges */
    const uint64_t known = edge_count < UINT32_MAX ? edge_count : UINT32_MAX;
    const struct edge_chunk_needs needs = {.node_count = schema->node_count,
                                           .edge_count = known << schema->undirected,
                                           .width = edges->spool.width};
    uint64_t sorting = 0;
    return share_out(edges, &needs, schema->node_count * sizeof *edges->in_degree, memory_bytes,
                     &sorting, err);
}

static enum error_code sort_edges(struct dataset_edges *edges, struct edge_sorter *sorter,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (sorter->duplicates == EDGES_REFUSE) {
        rc = edge_sorter_run(sorter, err);
        if (rc == ERROR_INPUT)
            rc = name_repeated(edges, sorter, err);
        sorter->duplicates = EDGES_KEEP; /* the pass above found no duplicates */
    }
    sorter->visit = store_row;
    sorter->context = edges;
    if (rc == ERROR_NONE)
        rc = edge_sorter_run(sorter, err);
    if (rc == ERROR_NONE)
        rc = edge_chunk_writer_finish(&edges->writer, err);
    return rc;
}

static enum error_code write_rows(struct dataset_edges *edges, struct store *store,
                                  uint64_t memory_bytes, struct edge_sorter *sorter,
                                  struct error *err)
{
    struct edge_chunk_needs needs = {.node_count = edges->schema->node_count,
                                     .width = edges->spool.width};
    needs.edge_count = sum_in_degrees(edges, &needs.largest_row);
    const uint64_t later_bytes =
        edges->out_degree ? edges->schema->node_count * sizeof *edges->out_degree : 0;
    enum error_code rc =
        share_out(edges, &needs, later_bytes, memory_bytes, &sorter->memory_bytes, err);
    if (rc == ERROR_NONE)
        rc = edge_chunk_writer_open(&edges->writer, store, edges->schema->id, &needs, err);
    return rc == ERROR_NONE ? sort_edges(edges, sorter, err) : rc;
}

enum error_code dataset_edges_write(struct dataset_edges *edges, struct store *store,
                                    uint64_t memory_bytes, bool with_out_degree, struct error *err)
{
    struct dataset_schema *schema = edges->schema;
    struct edge_sorter sorter = {
        .spool = &edges->spool,
        .node_count = schema->node_count,
        .both_ways = schema->undirected,
        .reverse_types = edges->adds_reverses ? schema->edge_type_count / 2 : 0,
        .skip_self_loops = edges->self_loops == EDGES_REMOVE,
        .duplicates = edges->duplicates,
        .pool = edges->pool,
        .in_degree = edges->in_degree,
        .repeated = edges->last,
    };
    enum error_code rc = ERROR_NONE;
    weight_scale_finish(&edges->scale);
    edges->spool.scale = edges->scale.kind == WEIGHTS_AS_GIVEN ? NULL : &edges->scale;
    if (with_out_degree && !schema->undirected)
        rc = memory_new(&edges->out_degree, schema->node_count, "out-degrees of nodes", err);
    if (rc == ERROR_NONE)
        rc = write_rows(edges, store, memory_bytes, &sorter, err);
    if (rc == ERROR_NONE)
        rc = holdout_overlap_count(&edges->holdout, &edges->spool, &edges->overlap, err);
    schema->input_edge_rows = edges->spool.edge_count + edges->passed_over;
    schema->removed_duplicates = sorter.removed_duplicates + edges->passed_over;
    schema->edge_width = edges->spool.width;
    schema->edge_chunk_count = edges->writer.chunk_count;
    edge_chunk_writer_release(&edges->writer); /* frees memory for the features */
    edge_spool_close(&edges->spool);
    weight_scale_release(&edges->scale);
    return rc;
}
