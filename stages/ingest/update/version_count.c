#include "stages/ingest/update/version_count.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/plan/settings/update_request.h"
#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/fold_graphs.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- edges
 * -------------------------------------------------------------------------------------- */

/* Finds the chunks of the base: from the version before if it has them, otherwise by reading the
 * base. */
static enum error_code find_base_chunks(struct version_draft *m, struct error *err)
{
    const uint64_t chunks = m->fold->base.edge_chunk_count;
    struct dataset_merge before;
    enum error_code rc = memory_new(&m->base_first, chunks + 1, "chunks of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = dataset_merge_get(m->store, m->delta->base, &before, err);
    if (rc == ERROR_NONE && before.base_chunk_count == chunks)
        memcpy(m->base_first, before.base_first, (chunks + 1) * sizeof *m->base_first);
    const bool is_known = rc == ERROR_NONE && before.base_chunk_count == chunks;
    store_release_record(&before.view);
    if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    for (uint64_t c = 0; rc == ERROR_NONE && !is_known && c < chunks; c++) {
        struct edge_chunk chunk;
        rc = edge_chunk_get(m->store, m->fold->base.id, (int64_t)c, &chunk, err);
        if (rc == ERROR_NONE && chunk.first_node != m->base_first[c])
            rc =
                error_set(err, ERROR_CORRUPT, "%s: begins with node %" PRIu32 ", expected %" PRIu32,
                          chunk.view.key, chunk.first_node, m->base_first[c]);
        if (rc == ERROR_NONE)
            m->base_first[c + 1] = chunk.first_node + chunk.node_count;
        store_release_record(&chunk.view);
    }
    if (rc == ERROR_NONE && m->base_first[chunks] != m->fold->base.node_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s: its edges are of %" PRIu32 " nodes, expected %" PRIu32,
                       m->fold->base.id, m->base_first[chunks], m->fold->base.node_count);
    return rc;
}

static enum error_code begin_chunk(struct version_draft *m, uint32_t node, struct error *err)
{
    const enum error_code rc =
        memory_grow(&m->first, &m->first_room, m->chunk_count + 2, "chunks of edges", err);
    if (rc == ERROR_NONE)
        m->first[m->chunk_count++] = node;
    m->chunk_edges = 0;
    return rc;
}

static void mark_linked(struct version_draft *m, uint32_t node)
{
    m->is_linked[node / 8] |= (uint8_t)(1U << node % 8);
}

/* Counts the class of a labelled training edge. */
static enum error_code count_class(const struct version_draft *m, const struct edge_chunk *rows,
                                   uint64_t e, struct error *err)
{
    const float *label = rows->columns.data[EDGE_LABEL];
    if (!m->train_class)
        return ERROR_NONE;
    if (!label || !(label[e] >= 0) || label[e] >= (float)m->schema.class_count)
        return error_set(err, ERROR_CORRUPT,
                         "dataset %s: the label of an edge: expected a class below %" PRIu32,
                         m->fold->base.id, m->schema.class_count);
    m->train_class[(uint32_t)label[e]]++;
    return ERROR_NONE;
}

static enum error_code count_row(struct version_draft *m, uint32_t node,
                                 const struct edge_chunk *rows, uint64_t from, uint64_t end,
                                 struct error *err)
{
    struct dataset_schema *schema = &m->schema;
    const float *weight = rows->columns.data[EDGE_WEIGHT];
    const uint16_t *type = rows->columns.data[EDGE_TYPE];
    const uint32_t first_reverse = m->repeated.first_reverse;
    enum error_code rc = ERROR_NONE;
    for (uint64_t e = from; rc == ERROR_NONE && e < end; e++) {
        const uint32_t source = rows->neighbor[e];
        if (source >= m->fold->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: an edge from node %" PRIu32 ", expected below %" PRIu32,
                             m->fold->base.id, source, m->fold->node_count);
        const uint32_t relation = type ? type[e] : 0;
        if (relation >= schema->edge_type_count)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: an edge of type %" PRIu32 ", expected below %" PRIu32,
                             m->fold->base.id, relation, schema->edge_type_count);
        schema->edge_type[relation].edge_count++;
        if (m->out_degree && m->out_degree[source] < UINT32_MAX)
            m->out_degree[source]++;
        if (source == node) {
            schema->self_loop_count++;
        } else {
            mark_linked(m, node);
            mark_linked(m, source);
        }
        /* An edge that is stored both ways, or has a reverse, counts as one edge of the input. */
        const bool is_second =
            (schema->undirected && source > node) || (first_reverse && relation >= first_reverse);
        if (weight)
            dataset_weights_note(schema, weight[e]);
        if (weight && weight[e] < 0 && !is_second)
            schema->negative_weight_count++;
        rc = count_class(m, rows, e, err);
    }
    return rc;
}

/* Counts rows and cuts chunks as edge_chunk_writer.h does. */
static enum error_code count_rows(struct version_draft *m, const struct edge_chunk *rows,
                                  struct error *err)
{
    const uint64_t edges_max = edge_chunk_edges_max(&m->schema.edge_width);
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < rows->node_count; i++) {
        const uint32_t node = rows->first_node + i;
        const uint64_t count = rows->row_start[i + 1] - rows->row_start[i];
        const bool is_full =
            m->chunk_count == 0 || node - m->first[m->chunk_count - 1] == EDGE_CHUNK_NODES_MAX ||
            (node > m->first[m->chunk_count - 1] && m->chunk_edges + count > edges_max);
        if (is_full)
            rc = begin_chunk(m, node, err);
        if (m->in_degree)
            m->in_degree[node] = (uint32_t)count;
        m->chunk_edges += count;
        if (m->chunk_edges > m->largest_chunk)
            m->largest_chunk = m->chunk_edges;
        m->schema.edge_count += count;
        if (rc == ERROR_NONE)
            rc = count_row(m, node, rows, rows->row_start[i], rows->row_start[i + 1], err);
    }
    return rc;
}

static enum error_code count_edges(struct version_draft *m, struct error *err)
{
    struct base_cursor cursor = {.store = m->store, .first = m->base_first};
    const uint32_t nodes = m->fold->node_count;
    enum error_code rc = memory_new(&m->is_linked, (size_t)nodes / 8 + 1, "marks of nodes", err);
    if (rc == ERROR_NONE && m->makes_features)
        rc = memory_new(&m->in_degree, nodes, "degrees", err);
    if (rc == ERROR_NONE && m->makes_features && !m->schema.undirected)
        rc = memory_new(&m->out_degree, nodes, "degrees", err);
    if (rc == ERROR_NONE && task_has(m->schema.task, TASK_LABELS_EDGES) &&
        task_of(m->schema.task)->is_in_class)
        rc = memory_new(&m->train_class, m->schema.class_count, "classes", err);
    for (uint32_t first = 0; rc == ERROR_NONE && first < nodes;) {
        struct edge_chunk rows = {0};
        uint32_t end = nodes;
        if (stop_signal_seen())
            rc = error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        else
            rc = version_edges_piece(m->fold, &cursor, first, nodes, MERGED_PIECE_BYTES, &end, err);
        if (rc == ERROR_NONE)
            rc = version_edges(m->fold, &cursor, first, end, &rows, &m->repeated, err);
        if (rc == ERROR_NONE)
            rc = count_rows(m, &rows, err);
        store_release_record(&rows.view);
        first = end;
    }
    base_cursor_close(&cursor);
    if (rc != ERROR_NONE)
        return rc;
    m->first[m->chunk_count] = nodes;
    return ERROR_NONE;
}

static enum error_code check_repeated(struct version_draft *m, struct error *err)
{
    const struct update_places *places = m->places;
    const uint64_t first = m->repeated.first;
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    if (m->settings->ingest.duplicates != EDGES_REFUSE || m->repeated.of_newest == 0)
        return ERROR_NONE;
    if (!places)
        return error_set(err, ERROR_CORRUPT,
                         "dataset %s: %" PRIu64 " added edges repeat others, which was refused",
                         m->id, m->repeated.of_newest);
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge from %s to %s: expected one that is new "
                     "(ingest.duplicates: refuse), found one like it before",
                     update_place_path(places->paths, places->edge_place[first]),
                     update_place_line(places->edge_place[first]),
                     living_nodes_text(places->nodes, m->delta->source[first], source),
                     living_nodes_text(places->nodes, m->delta->target[first], target));
}

/* Sets the number of input rows: edges of the version before that stay, each once, and added
 * edges. */
static void describe_edges(struct version_draft *m)
{
    struct dataset_schema *schema = &m->schema;
    const struct dataset_delta *delta = m->delta;
    const float *weight = delta->columns.data[EDGE_WEIGHT];
    const bool has_reverses = m->repeated.first_reverse > 0;
    const uint64_t added_edges = has_reverses ? delta->added_edges / 2 : delta->added_edges;
    for (uint32_t node = 0; node < schema->node_count; node++)
        m->summary.isolated_nodes += !(m->is_linked[node / 8] >> node % 8 & 1);
    for (uint64_t e = 0; m->fold->skips_self_loops && e < added_edges; e++)
        schema->removed_self_loops += delta->source[e] == delta->target[e];
    schema->removed_duplicates = m->repeated.of_newest;
    schema->input_edge_rows =
        (schema->undirected ? (schema->edge_count + schema->self_loop_count) / 2
         : has_reverses     ? schema->edge_count / 2
                            : schema->edge_count) +
        schema->removed_self_loops + schema->removed_duplicates;
    schema->edge_chunk_count = m->chunk_count;
    if (schema->negative_weight_count == 0)
        schema->first_negative_weight[0] = '\0';
    else if (!schema->first_negative_weight[0])
        must(text_copy(schema->first_negative_weight, sizeof schema->first_negative_weight,
                       delta->negative_weight));
    for (uint64_t e = 0; weight && schema->negative_weight_count &&
                         !schema->first_negative_weight[0] && e < added_edges;
         e++)
        if (weight[e] < 0)
            (void)snprintf(schema->first_negative_weight, sizeof schema->first_negative_weight,
                           "added edges, number:%" PRIu64, e + 1);
}

/* ---- nodes
 * -------------------------------------------------------------------------------------- */

static enum error_code count_splits(struct version_draft *m, uint8_t *split_of, struct error *err)
{
    struct node_splits splits;
    const enum error_code rc = version_splits(m->fold, m->store, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int s = 0; s < SPLIT_COUNT; s++)
        for (uint32_t i = 0; i < splits.count[s]; i++)
            split_of[splits.node[s][i]] = (uint8_t)(1 + s);
    m->schema.train_count = splits.count[SPLIT_TRAIN];
    m->schema.valid_count = splits.count[SPLIT_VALID];
    m->schema.test_count = splits.count[SPLIT_TEST];
    store_release_record(&splits.view);
    return ERROR_NONE;
}

static enum error_code count_labels(struct version_draft *m, struct error *err)
{
    const struct task *task = version_label_task(&m->schema);
    struct node_labels labels = {0};
    struct node_targets targets = {.node_count = version_targets(m->fold),
                                   .task = m->schema.task,
                                   .class_count = m->schema.class_count};
    m->summary.graph_count = m->fold->graphs.count;
    enum error_code rc = memory_new(&targets.split_of, targets.node_count, "splits of nodes", err);
    if (rc == ERROR_NONE)
        rc = count_splits(m, targets.split_of, err);
    if (rc == ERROR_NONE && task)
        rc = version_labels(m->fold, m->store, &labels, err);
    if (rc == ERROR_NONE && task) {
        targets.label_width = task->label_width(targets.class_count);
        memcpy(&targets.label, &labels.row, sizeof targets.label); /* the targets only read these */
        rc = dataset_summary_count(&m->summary, &targets, err);
    }
    store_release_record(&labels.view);
    memory_free(targets.split_of);
    return rc;
}

static enum error_code name_nodes(struct version_draft *m, struct error *err)
{
    struct node_ids ids;
    bool are_numbers = false;
    const enum error_code rc = version_ids(m->fold, m->store, &are_numbers, &ids, err);
    if (rc != ERROR_NONE)
        return rc;
    m->schema.node_id_form = are_numbers  ? NODE_ID_CONSECUTIVE
                             : ids.offset ? NODE_ID_STRING
                                          : NODE_ID_INTEGER;
    store_release_record(&ids.view);
    return ERROR_NONE;
}

/* Reads the share of zeros from the report of the version before; 0 if it has none. */
static enum error_code zero_share(const struct version_draft *m, double *share, struct error *err)
{
    char *report = NULL;
    struct json_document *document = NULL;
    *share = 0.0;
    enum error_code rc = dataset_report_get(m->store, m->delta->base, &report, err);
    if (rc == ERROR_NONE && report)
        rc = json_parse(report, strlen(report), m->delta->base, &document, err);
    /* the store is damaged, not the user's input */
    if (rc == ERROR_INPUT)
        rc = ERROR_CORRUPT;
    if (rc == ERROR_NONE && document)
        (void)json_double(json_get(json_root(document), "feature_zero_share"), share);
    json_free(document);
    memory_free(report);
    return rc;
}

bool version_makes_features(const struct dataset_schema *schema, uint32_t type)
{
    return dataset_type(schema, type).feature_dim &&
           strcmp(dataset_type_origin(schema, type), "given") != 0;
}

/* Counts numbers, zeros and chunks of the types whose features are given. */
static enum error_code count_features(struct version_draft *m, struct error *err)
{
    const struct dataset_delta *delta = m->delta;
    double share = 0.0;
    uint64_t zeros = 0, numbers = 0, new_numbers = 0;
    const enum error_code rc = zero_share(m, &share, err);
    for (uint64_t i = 0; i < delta->rows; i++)
        for (uint32_t c = dataset_delta_columns(delta, delta->row_node[i]); c > 0; c--)
            zeros += fpclassify(delta->row[new_numbers++]) == FP_ZERO;
    for (uint32_t t = 0; t < dataset_type_count(&m->schema); t++) {
        const struct node_type type = dataset_type(&m->schema, t);
        m->summary.feature_origin[t] = dataset_type_origin(&m->schema, t);
        if (version_makes_features(&m->schema, t))
            continue;
        numbers += (uint64_t)type.node_count * type.feature_dim;
    }
    const uint64_t kept = new_numbers < numbers ? numbers - new_numbers : 0;
    m->summary.feature_numbers = numbers;
    m->summary.feature_zeros = zeros + (uint64_t)llround(share * (double)kept);
    return rc;
}

/* Starts the schema with the fields that do not depend on the counts, from the version before. */
static enum error_code begin_schema(struct version_draft *m, struct error *err)
{
    struct dataset_schema *schema = &m->schema;
    const struct delta_numbers *numbers = &m->fold->numbers;
    const enum error_code rc = dataset_schema_get(m->store, m->delta->base, schema, err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(schema->id, sizeof schema->id, m->id));
    schema->node_count = schema->node_type[0].node_count = m->fold->node_count;
    for (uint32_t t = 0; t < schema->node_type_count && schema->node_type_count > 1; t++) {
        schema->node_type[t].first_node = numbers->first[t];
        schema->node_type[t].node_count = numbers->first[t + 1] - numbers->first[t];
    }
    for (uint32_t r = 0; r < schema->edge_type_count; r++)
        schema->edge_type[r].edge_count = 0;
    const uint32_t given = update_relation_count(schema, m->settings);
    m->repeated.first_reverse = given < schema->edge_type_count ? given : 0;
    schema->edge_count = schema->self_loop_count = 0;
    schema->removed_self_loops = schema->removed_duplicates = 0;
    schema->negative_weight_count = 0;
    schema->weight_least = schema->weight_most = 0;
    return ERROR_NONE;
}

/* ---- all
 * ---------------------------------------------------------------------------------------- */

/* Counts the held-out links by their splits. */
static enum error_code count_links(struct version_draft *m, struct error *err)
{
    struct edge_splits splits;
    if (!task_has(m->schema.task, TASK_HOLDS_OUT_EDGES))
        return ERROR_NONE;
    const enum error_code rc =
        version_edge_splits(m->fold, m->store, m->train_class, &m->repeated, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits.count[s]; i++)
            if (splits.source[s][i] != splits.target[s][i]) {
                mark_linked(m, splits.source[s][i]);
                mark_linked(m, splits.target[s][i]);
            }
    m->schema.train_count = 0;
    m->schema.valid_count = (uint32_t)splits.count[HELD_OUT_VALID];
    m->schema.test_count = (uint32_t)splits.count[HELD_OUT_TEST];
    store_release_record(&splits.view);
    return m->schema.edge_count
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT,
                           "%s: no training edge stays, expected at least one: the remaining edges "
                           "are held out",
                           m->places && m->places->removal ? m->places->removal : m->id);
}

enum error_code version_count(struct version_draft *m, struct error *err)
{
    static enum error_code (*const step[])(struct version_draft *, struct error *) = {
        begin_schema,   find_base_chunks, count_edges, name_nodes,
        count_features, count_labels,     count_links, check_repeated};
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof step / sizeof *step; i++)
        rc = step[i](m, err);
    if (rc == ERROR_NONE)
        describe_edges(m);
    return rc;
}
