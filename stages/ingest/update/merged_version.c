#include "stages/ingest/update/merged_version.h"

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/ingest/build/dataset_summary.h"
#include "store/objects/keys.h"
#include "store/records/dataset_merge.h"
#include "store/records/feature_statistics.h"
#include "store/records/node_columns.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECE_NODES = 1 << 16 };

struct merging {
    struct store *store;
    const struct pipeline_settings *settings;
    const char *id;
    const struct dataset_delta *delta;
    struct version_fold *fold;
    struct dataset_schema schema; /* of the version */
    struct dataset_summary summary;
    /* Where chunks of the base's edges begin, and those of the version. */
    uint32_t *base_first; /* [base chunks + 1] */
    uint32_t *first;      /* [chunk_count + 1] once counted */
    size_t first_room;
    uint64_t chunk_count;
    uint64_t chunk_edges; /* of the chunk at hand */
    uint8_t *is_linked;   /* [nodes / 8 + 1] a bit a node: it has an edge to another */
    struct repeated_edges repeated;
};

/* ---- whether ------------------------------------------------------------------------------------ */

/* Bytes of the version written whole. */
static double whole_bytes(const struct version_fold *fold)
{
    const struct dataset_schema *base = &fold->base;
    const struct task *task = task_of(base->task);
    const double edge = (double)(sizeof(uint32_t) + edge_widths_bytes(&base->edge_width));
    const double node = (double)(sizeof(uint64_t) + base->feature_dim * sizeof(float) +
                                 (task ? task->label_width(base->class_count) * 4ULL : 0));
    return edge * (double)base->edge_count + node * fold->node_count;
}

/* The last whole version below the one at hand. */
static enum error_code find_base(const struct merging *m, char base[ID_SIZE], struct error *err)
{
    const enum error_code rc = dataset_merge_base(m->store, m->delta->base, base, err);
    if (rc == ERROR_NONE && !base[0])
        (void)text_copy(base, ID_SIZE, m->delta->base);
    return rc;
}

/* Folds the deltas, and looks what they come to. */
static enum error_code decide(struct merging *m, bool *is_merged, struct error *err)
{
    const double compact = m->settings->partition.compact;
    char base[ID_SIZE];
    bool stays = false; /* it is merged already */
    enum error_code rc = store_has(m->store, key_dataset(m->id, "merge").text, &stays, err);
    *is_merged = false;
    if (rc != ERROR_NONE || (!stays && !(compact > 0)))
        return rc;
    rc = find_base(m, base, err);
    if (rc == ERROR_NONE)
        rc =
            version_fold_make(m->store, m->id, base, m->settings->ingest.self_loops == EDGES_REMOVE,
                              m->settings->ingest.duplicates != EDGES_KEEP, &m->fold, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool are_given =
        m->fold->base.feature_dim == 0 || strcmp(m->fold->base.feature_origin, "given") == 0;
    const double share = (double)m->fold->delta_bytes / whole_bytes(m->fold);
    *is_merged = stays || (are_given && share <= compact && m->fold->depth <= MERGED_DEPTH_MAX);
    log_info("dataset base=%s deltas=%zu changed_share=%.4f form=%s", base, m->fold->depth, share,
             *is_merged ? "merged" : "whole");
    return ERROR_NONE;
}

/* ---- edges -------------------------------------------------------------------------------------- */

/* Those that the version before knows, or by reading the base. */
static enum error_code find_base_chunks(struct merging *m, struct error *err)
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

static enum error_code begin_chunk(struct merging *m, uint32_t node, struct error *err)
{
    const enum error_code rc =
        memory_grow(&m->first, &m->first_room, m->chunk_count + 2, "chunks of edges", err);
    if (rc == ERROR_NONE)
        m->first[m->chunk_count++] = node;
    m->chunk_edges = 0;
    return rc;
}

static enum error_code count_row(struct merging *m, uint32_t node, const struct edge_chunk *rows,
                                 uint64_t from, uint64_t end, struct error *err)
{
    struct dataset_schema *schema = &m->schema;
    const float *weight = rows->columns.data[EDGE_WEIGHT];
    for (uint64_t e = from; e < end; e++) {
        const uint32_t source = rows->neighbor[e];
        if (source >= m->fold->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: an edge from node %" PRIu32 ", expected below %" PRIu32,
                             m->fold->base.id, source, m->fold->node_count);
        if (source == node) {
            schema->self_loop_count++;
        } else {
            m->is_linked[node / 8] |= (uint8_t)(1U << node % 8);
            m->is_linked[source / 8] |= (uint8_t)(1U << source % 8);
        }
        /* An edge that lies both ways is one of the input. */
        if (weight && weight[e] < 0 && !(schema->undirected && source > node))
            schema->negative_weight_count++;
    }
    return ERROR_NONE;
}

/* As edge_chunk_writer.h cuts them. */
static enum error_code count_rows(struct merging *m, const struct edge_chunk *rows,
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
        m->chunk_edges += count;
        m->schema.edge_count += count;
        if (rc == ERROR_NONE)
            rc = count_row(m, node, rows, rows->row_start[i], rows->row_start[i + 1], err);
    }
    return rc;
}

static enum error_code count_edges(struct merging *m, struct error *err)
{
    struct base_cursor cursor = {.store = m->store, .first = m->base_first};
    const uint32_t nodes = m->fold->node_count;
    enum error_code rc = memory_new(&m->is_linked, (size_t)nodes / 8 + 1, "marks of nodes", err);
    for (uint32_t first = 0; rc == ERROR_NONE && first < nodes;) {
        const uint32_t end = nodes - first < PIECE_NODES ? nodes : first + PIECE_NODES;
        struct edge_chunk rows = {0};
        if (stop_signal_seen())
            rc = error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        else
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
    for (uint32_t node = 0; node < nodes; node++)
        m->summary.isolated_nodes += !(m->is_linked[node / 8] >> node % 8 & 1);
    if (m->settings->ingest.duplicates != EDGES_REFUSE || m->repeated.of_newest == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "added edges, number:%" PRIu64 ": the edge between %" PRIu32 " and %" PRIu32
                     " repeats another one: expected none (ingest.duplicates: refuse)",
                     m->repeated.first + 1, m->repeated.source, m->repeated.target);
}

/* Rows of the input: edges of the version before that stay, each once, and those that were added. */
static void describe_edges(struct merging *m)
{
    struct dataset_schema *schema = &m->schema;
    const struct dataset_delta *delta = m->delta;
    const float *weight = delta->columns.data[EDGE_WEIGHT];
    for (uint64_t e = 0; m->fold->skips_self_loops && e < delta->added_edges; e++)
        schema->removed_self_loops += delta->source[e] == delta->target[e];
    schema->removed_duplicates = m->repeated.of_newest;
    schema->input_edge_rows =
        (schema->undirected ? (schema->edge_count + schema->self_loop_count) / 2
                            : schema->edge_count) +
        schema->removed_self_loops + schema->removed_duplicates;
    schema->edge_type[0].edge_count = schema->edge_count;
    schema->edge_chunk_count = m->chunk_count;
    if (schema->negative_weight_count == 0)
        schema->first_negative_weight[0] = '\0';
    for (uint64_t e = 0; weight && schema->negative_weight_count &&
                         !schema->first_negative_weight[0] && e < delta->added_edges;
         e++)
        if (weight[e] < 0)
            (void)snprintf(schema->first_negative_weight, sizeof schema->first_negative_weight,
                           "added edges, number:%" PRIu64, e + 1);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static enum error_code count_splits(struct merging *m, uint8_t *split_of, struct error *err)
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

static enum error_code count_labels(struct merging *m, struct error *err)
{
    const struct task *task = task_of(m->schema.task);
    struct node_labels labels = {0};
    struct node_targets targets = {.node_count = m->fold->node_count,
                                   .task = m->schema.task,
                                   .class_count = m->schema.class_count};
    enum error_code rc = memory_new(&targets.split_of, targets.node_count, "splits of nodes", err);
    if (rc == ERROR_NONE)
        rc = count_splits(m, targets.split_of, err);
    if (rc == ERROR_NONE && task)
        rc = version_labels(m->fold, m->store, &labels, err);
    if (rc == ERROR_NONE && task) {
        targets.label_width = task->label_width(targets.class_count);
        memcpy(&targets.label, &labels.row, sizeof targets.label); /* which are only read */
        rc = dataset_summary_count(&m->summary, &targets, err);
    }
    store_release_record(&labels.view);
    memory_free(targets.split_of);
    return rc;
}

static enum error_code name_nodes(struct merging *m, struct error *err)
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

/* The share of zeros that the report of the version before has; 0 where it has none. */
static enum error_code zero_share(const struct merging *m, double *share, struct error *err)
{
    char *report = NULL;
    struct json_document *document = NULL;
    *share = 0.0;
    enum error_code rc = dataset_report_get(m->store, m->delta->base, &report, err);
    if (rc == ERROR_NONE && report)
        rc = json_parse(report, strlen(report), m->delta->base, &document, err);
    if (rc == ERROR_INPUT)
        rc = ERROR_CORRUPT; /* it is of the store, and nothing that the user gave */
    if (rc == ERROR_NONE && document)
        (void)json_double(json_get(json_root(document), "feature_zero_share"), share);
    json_free(document);
    memory_free(report);
    return rc;
}

static enum error_code count_features(struct merging *m, struct error *err)
{
    const struct dataset_delta *delta = m->delta;
    const uint32_t dim = m->schema.feature_dim;
    const uint64_t rows = feature_chunk_rows(dim);
    double share = 0.0;
    uint64_t zeros = 0;
    if (dim == 0)
        return ERROR_NONE;
    const enum error_code rc = zero_share(m, &share, err);
    for (uint64_t i = 0; i < delta->rows * dim; i++)
        zeros += fpclassify(delta->row[i]) == FP_ZERO;
    const uint64_t kept = delta->rows < m->fold->node_count ? m->fold->node_count - delta->rows : 0;
    m->summary.feature_numbers = (uint64_t)m->fold->node_count * dim;
    m->summary.feature_zeros = zeros + (uint64_t)llround(share * (double)(kept * dim));
    m->summary.feature_origin[0] = m->schema.feature_origin;
    m->schema.feature_chunk_count = (m->fold->node_count + rows - 1) / rows;
    return rc;
}

/* What is told of the version before and is nothing of what was counted. */
static enum error_code begin_schema(struct merging *m, struct error *err)
{
    struct dataset_schema *schema = &m->schema;
    const enum error_code rc = dataset_schema_get(m->store, m->delta->base, schema, err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(schema->id, sizeof schema->id, m->id));
    schema->node_count = schema->node_type[0].node_count = m->fold->node_count;
    schema->edge_count = schema->self_loop_count = 0;
    schema->removed_self_loops = schema->removed_duplicates = 0;
    schema->negative_weight_count = 0;
    return ERROR_NONE;
}

/* ---- what is stored ------------------------------------------------------------------------------ */

/* What features were scaled by, words of classes and encoded columns are those of the root. */
static enum error_code copy_small(const struct merging *m, struct error *err)
{
    struct feature_statistics by;
    struct column_encoding encoding = {0};
    enum error_code rc = feature_statistics_get(m->store, m->delta->base, 0, &by, err);
    if (rc == ERROR_NONE)
        rc = feature_statistics_put(m->store, m->id, 0, &by, err);
    else if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    store_release_record(&by.view);
    if (rc == ERROR_NONE)
        rc = node_columns_get(m->store, m->delta->base, &encoding, err);
    if (rc == ERROR_NONE && (encoding.class_count || encoding.column_count))
        rc = node_columns_put(m->store, m->id, &encoding, err);
    column_encoding_release(&encoding);
    return rc;
}

static enum error_code put_merge(const struct merging *m, struct error *err)
{
    struct dataset_merge merge = {.skips_self_loops = m->fold->skips_self_loops,
                                  .removes_repeated = m->fold->removes_repeated,
                                  .chunk_count = m->chunk_count,
                                  .base_chunk_count = m->fold->base.edge_chunk_count,
                                  .first_node = m->first,
                                  .base_first = m->base_first};
    must(text_copy(merge.base, sizeof merge.base, m->fold->base.id));
    return dataset_merge_put(m->store, m->id, &merge, err);
}

/* The schema commits the version. */
static enum error_code put_schema(struct merging *m, struct error *err)
{
    struct json_writer report = {0};
    struct pipeline_settings *own = NULL;
    enum error_code rc = memory_new(&own, 1, "settings", err);
    if (rc != ERROR_NONE)
        return rc;
    *own = *m->settings;
    own->ingest.class_count = m->schema.class_count; /* they are those that there are */
    dataset_summary_report(&m->summary, &m->schema, own, &report);
    rc = json_writer_finish(&report, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_put_with_report(m->store, &m->schema, report.text, err);
    json_writer_release(&report);
    memory_free(own);
    return rc;
}

static enum error_code merge(struct merging *m, struct error *err)
{
    enum error_code rc = begin_schema(m, err);
    if (rc == ERROR_NONE)
        rc = find_base_chunks(m, err);
    if (rc == ERROR_NONE)
        rc = count_edges(m, err);
    if (rc == ERROR_NONE)
        rc = name_nodes(m, err);
    if (rc == ERROR_NONE)
        rc = count_features(m, err);
    if (rc == ERROR_NONE)
        rc = count_labels(m, err);
    if (rc == ERROR_NONE)
        rc = copy_small(m, err);
    if (rc == ERROR_NONE)
        rc = put_merge(m, err);
    if (rc != ERROR_NONE)
        return rc;
    describe_edges(m);
    return put_schema(m, err);
}

enum error_code merged_version_put(struct store *store, const struct pipeline_settings *settings,
                                   const char *dataset_id, const struct dataset_delta *delta,
                                   bool *is_merged, struct error *err)
{
    struct merging *m = NULL;
    *is_merged = false;
    enum error_code rc = memory_new(&m, 1, "a version of a dataset", err);
    if (rc != ERROR_NONE)
        return rc;
    m->store = store;
    m->settings = settings;
    m->id = dataset_id;
    m->delta = delta;
    m->repeated.first = UINT64_MAX;
    rc = decide(m, is_merged, err);
    if (rc == ERROR_NONE && *is_merged)
        rc = merge(m, err);
    version_fold_drop(m->fold);
    dataset_summary_release(&m->summary);
    memory_free(m->base_first);
    memory_free(m->first);
    memory_free(m->is_linked);
    memory_free(m);
    return rc;
}
