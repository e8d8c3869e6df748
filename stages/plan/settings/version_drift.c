#include "stages/plan/settings/version_drift.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/settings/touched_graphs.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/merged_records.h"
#include "store/versions/version_fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOWHERE DELTA_GONE /* a node that the other version does not have */

enum { CHANGED_ROW = 1, CHANGED_FEATURES = 2, TOUCHED = 4, TOUCHED_NOW = 8 };

/* --- one version after the other, row by row --- */

struct reader { /* a version, and its chunk in memory */
    struct store *store;
    struct dataset_schema schema;
    struct merged_edges pass;
    int64_t next_features;
    struct edge_chunk edges;
    struct feature_chunk features;
};

struct row { /* the in-neighbours of a node */
    uint64_t size;
    const uint32_t *neighbor;
    const uint16_t *relation; /* NULL: the graph has one relation */
};

struct drift {
    struct reader older, newer;
    /* [newer nodes] the node's number in the older version, ascending, or NOWHERE. */
    uint32_t *older_of;
    uint32_t *newer_of; /* [older nodes] the reverse */
    uint8_t *mark;      /* [newer nodes] 1: touched */
};

static void rewind_reader(struct reader *r)
{
    store_release_record(&r->edges.view);
    store_release_record(&r->features.view);
    r->edges = (struct edge_chunk){0};
    r->features = (struct feature_chunk){0};
    r->next_features = 0;
    merged_edges_end(&r->pass);
}

/* Reads the in-neighbours of a node. Since rewind_reader() nodes must be read in ascending
 * order. */
static enum error_code read_row(struct reader *r, uint32_t node, struct row *row, struct error *err)
{
    bool found = true;
    if (!r->pass.store)
        r->pass = merged_edges_begin(r->store, r->schema.id, r->schema.edge_chunk_count,
                                     MERGED_PIECE_BYTES);
    while (!r->edges.view.key[0] || node - r->edges.first_node >= r->edges.node_count) {
        store_release_record(&r->edges.view);
        r->edges = (struct edge_chunk){0};
        const enum error_code rc = merged_edges_next(&r->pass, &r->edges, &found, err);
        if (rc == ERROR_NONE && !found)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: the edge chunks end before node %" PRIu32, r->schema.id,
                             node);
        if (rc != ERROR_NONE)
            return rc;
    }
    const uint64_t *start = r->edges.row_start + (node - r->edges.first_node);
    const uint16_t *relation = r->edges.columns.data[EDGE_TYPE];
    *row = (struct row){.size = start[1] - start[0],
                        .neighbor = r->edges.neighbor + start[0],
                        .relation = relation ? relation + start[0] : NULL};
    return ERROR_NONE;
}

/* Reads the features of a node. *dim 0: nodes of its type have none. Nodes must be read in
 * ascending order. */
static enum error_code read_features(struct reader *r, uint32_t node, const float **row,
                                     uint32_t *dim, struct error *err)
{
    *dim = dataset_type(&r->schema, dataset_type_of(&r->schema, node)).feature_dim;
    if (*dim == 0)
        return ERROR_NONE;
    while (!r->features.view.key[0] || node - r->features.first_node >= r->features.node_count) {
        store_release_record(&r->features.view);
        r->features = (struct feature_chunk){0};
        const enum error_code rc =
            merged_features_get(r->store, r->schema.id, r->next_features++, &r->features, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    *row = r->features.row + (size_t)(node - r->features.first_node) * r->features.dim;
    return ERROR_NONE;
}

/* --- which node is which --- */

enum error_code version_is_below(struct store *store, const char *older, const char *newer,
                                 bool *is_below, struct error *err)
{
    char id[ID_SIZE];
    (void)text_copy(id, sizeof id, newer);
    for (;;) {
        struct dataset_delta delta;
        *is_below = strcmp(id, older) == 0;
        if (*is_below)
            return ERROR_NONE;
        const enum error_code rc = dataset_delta_get(store, id, &delta, err);
        if (rc == ERROR_NOT_FOUND) /* `newer` is the root */
            return ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
        (void)text_copy(id, sizeof id, delta.base);
        store_release_record(&delta.view);
    }
}

static enum error_code map_nodes(struct drift *d, struct error *err)
{
    const uint32_t newer = d->newer.schema.node_count, older = d->older.schema.node_count;
    char id[ID_SIZE];
    enum error_code rc = memory_new(&d->older_of, newer, "numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&d->newer_of, older, "numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&d->mark, newer, "marks of nodes", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < newer; node++)
        d->older_of[node] = node;
    (void)text_copy(id, sizeof id, d->newer.schema.id);
    while (rc == ERROR_NONE && strcmp(id, d->older.schema.id) != 0) {
        struct dataset_delta delta;
        struct delta_numbers numbers;
        rc = dataset_delta_get(d->newer.store, id, &delta, err);
        if (rc != ERROR_NONE)
            return rc;
        delta_numbers_init(&numbers, &delta);
        delta_numbers_step_down(&numbers, d->older_of, newer);
        (void)text_copy(id, sizeof id, delta.base);
        store_release_record(&delta.view);
    }
    for (uint32_t node = 0; rc == ERROR_NONE && node < older; node++)
        d->newer_of[node] = NOWHERE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < newer; node++)
        if (d->older_of[node] < older)
            d->newer_of[d->older_of[node]] = node;
    return rc;
}

/* --- what changed --- */

static bool rows_differ(const struct drift *d, const struct row *older, const struct row *newer)
{
    const bool compares_relations = older->relation && newer->relation;
    if (older->size != newer->size)
        return true;
    for (uint64_t i = 0; i < newer->size; i++)
        if (d->newer_of[older->neighbor[i]] != newer->neighbor[i] ||
            (compares_relations && older->relation[i] != newer->relation[i]))
            return true;
    return false;
}

static enum error_code compare_node(struct drift *d, uint32_t node, struct error *err)
{
    const uint32_t before = d->older_of[node];
    struct row older = {0}, newer = {0};
    const float *older_row = NULL, *newer_row = NULL;
    uint32_t older_dim = 0, newer_dim = 0;
    if (before == NOWHERE) {
        d->mark[node] = CHANGED_ROW | CHANGED_FEATURES;
        return ERROR_NONE;
    }
    enum error_code rc = read_row(&d->older, before, &older, err);
    if (rc == ERROR_NONE)
        rc = read_row(&d->newer, node, &newer, err);
    if (rc == ERROR_NONE)
        rc = read_features(&d->older, before, &older_row, &older_dim, err);
    if (rc == ERROR_NONE)
        rc = read_features(&d->newer, node, &newer_row, &newer_dim, err);
    if (rc != ERROR_NONE)
        return rc;
    must(older_dim == newer_dim); /* check_kind() has compared them */
    if (rows_differ(d, &older, &newer))
        d->mark[node] |= CHANGED_ROW;
    if (newer_dim && memcmp(older_row, newer_row, newer_dim * sizeof *newer_row) != 0)
        d->mark[node] |= CHANGED_FEATURES;
    return ERROR_NONE;
}

/* Marks nodes one hop further: a node is touched by a change of its own row, or by a neighbour that
 * was marked before. */
static enum error_code spread(struct drift *d, struct error *err)
{
    const uint32_t count = d->newer.schema.node_count;
    enum error_code rc = ERROR_NONE;
    rewind_reader(&d->newer);
    for (uint32_t node = 0; rc == ERROR_NONE && node < count; node++) {
        struct row row = {0};
        bool touched = (d->mark[node] & (CHANGED_ROW | TOUCHED)) != 0;
        if (!touched)
            rc = read_row(&d->newer, node, &row, err);
        for (uint64_t i = 0; i < row.size && !touched; i++)
            touched = (d->mark[row.neighbor[i]] & TOUCHED) != 0;
        d->mark[node] |= touched ? TOUCHED_NOW : 0;
    }
    for (uint32_t node = 0; node < count; node++)
        d->mark[node] |= d->mark[node] & TOUCHED_NOW ? TOUCHED : 0;
    return rc;
}

/* Counts the training nodes, or graphs, that are touched. */
static enum error_code count_touched(const struct drift *d, const struct node_splits *splits,
                                     uint32_t *touched, struct error *err)
{
    const struct touched_graphs graphs = {.store = d->newer.store,
                                          .older = &d->older.schema,
                                          .newer = &d->newer.schema,
                                          .older_of = d->older_of,
                                          .newer_of = d->newer_of,
                                          .mark = d->mark,
                                          .mask = TOUCHED};
    if (task_has(d->newer.schema.task, TASK_HAS_GRAPHS))
        return touched_graphs_count(&graphs, splits, touched, err);
    for (uint32_t i = 0; i < splits->count[SPLIT_TRAIN]; i++)
        *touched += (d->mark[splits->node[SPLIT_TRAIN][i]] & TOUCHED) != 0;
    return ERROR_NONE;
}

static enum error_code measure_touched(struct drift *d, int hop_count, double *out,
                                       struct error *err)
{
    const uint32_t count = d->newer.schema.node_count;
    const bool all_train =
        task_has(d->newer.schema.task, TASK_SEEDS_ALL_TYPES); /* nodes of any type may be an end of
                                                               * a link */
    struct node_splits splits = {0};
    uint32_t touched = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < count; node++) {
        rc = compare_node(d, node, err);
        d->mark[node] |= d->mark[node] & CHANGED_FEATURES ? TOUCHED : 0;
    }
    for (int hop = 0; rc == ERROR_NONE && hop < hop_count; hop++)
        rc = spread(d, err);
    for (uint32_t node = 0; rc == ERROR_NONE && all_train && node < count; node++)
        touched += (d->mark[node] & TOUCHED) != 0;
    if (all_train && rc == ERROR_NONE)
        *out = (double)touched / count;
    if (all_train)
        return rc;
    if (rc == ERROR_NONE)
        rc = merged_splits_get(d->newer.store, d->newer.schema.id, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = count_touched(d, &splits, &touched, err);
    *out = splits.count[SPLIT_TRAIN] ? (double)touched / splits.count[SPLIT_TRAIN] : 0;
    store_release_record(&splits.view);
    return rc;
}

/* --- degrees and features --- */

/* Counts the nodes of each in-degree d in count[d]. The last place counts all higher degrees. */
static enum error_code count_degrees(struct reader *r, uint32_t *count, uint64_t places,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    rewind_reader(r);
    for (uint32_t node = 0; rc == ERROR_NONE && node < r->schema.node_count; node++) {
        struct row row = {0};
        rc = read_row(r, node, &row, err);
        count[row.size < places ? row.size : places - 1]++;
    }
    return rc;
}

static enum error_code measure_degrees(struct drift *d, double *out, struct error *err)
{
    const uint32_t older_nodes = d->older.schema.node_count;
    const uint32_t newer_nodes = d->newer.schema.node_count;
    const uint64_t places = (uint64_t)(older_nodes > newer_nodes ? older_nodes : newer_nodes) + 1;
    uint32_t *older = NULL, *newer = NULL;
    double below_older = 0, below_newer = 0;
    enum error_code rc = memory_new(&older, places, "degrees", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&newer, places, "degrees", err);
    if (rc == ERROR_NONE)
        rc = count_degrees(&d->older, older, places, err);
    if (rc == ERROR_NONE)
        rc = count_degrees(&d->newer, newer, places, err);
    *out = 0;
    for (uint64_t i = 0; rc == ERROR_NONE && i < places; i++) {
        below_older += (double)older[i] / older_nodes;
        below_newer += (double)newer[i] / newer_nodes;
        *out = fmax(*out, fabs(below_older - below_newer));
    }
    memory_free(older);
    memory_free(newer);
    return rc;
}

/* Returns the number of columns of all types, and sets first [node types] to the column with which
 * each begins. */
static size_t count_columns(const struct dataset_schema *schema, size_t *first)
{
    size_t count = 0;
    for (uint32_t t = 0; t < dataset_type_count(schema); t++) {
        first[t] = count;
        count += dataset_type(schema, t).feature_dim;
    }
    return count;
}

/* Computes mean and standard deviation of these columns, each over the nodes that have it. */
static enum error_code measure_columns(struct reader *r, double *mean, double *deviation,
                                       struct error *err)
{
    size_t first[NODE_TYPE_COUNT_MAX] = {0};
    uint32_t seen[NODE_TYPE_COUNT_MAX] = {0};
    enum error_code rc = ERROR_NONE;
    (void)count_columns(&r->schema, first);
    rewind_reader(r);
    for (uint32_t node = 0; rc == ERROR_NONE && node < r->schema.node_count; node++) {
        const uint32_t type = dataset_type_of(&r->schema, node);
        const float *row = NULL;
        uint32_t dim = 0;
        rc = read_features(r, node, &row, &dim, err);
        seen[type]++;
        for (uint32_t c = 0; rc == ERROR_NONE && c < dim; c++) { /* by the recurrence of Welford
                                                                  * (1962) */
            const double before = (double)row[c] - mean[first[type] + c];
            mean[first[type] + c] += before / (double)seen[type];
            deviation[first[type] + c] += before * ((double)row[c] - mean[first[type] + c]);
        }
    }
    for (uint32_t t = 0; t < dataset_type_count(&r->schema); t++)
        for (uint32_t c = 0; seen[t] && c < dataset_type(&r->schema, t).feature_dim; c++)
            deviation[first[t] + c] = sqrt(deviation[first[t] + c] / seen[t]);
    return rc;
}

static enum error_code measure_features(struct drift *d, double *out, struct error *err)
{
    size_t first[NODE_TYPE_COUNT_MAX] = {0};
    const size_t dim = count_columns(&d->newer.schema, first);
    double *figure = NULL; /* means and deviations of both versions */
    enum error_code rc = memory_new(&figure, 4 * dim, "means of features", err);
    if (rc == ERROR_NONE)
        rc = measure_columns(&d->older, figure, figure + dim, err);
    if (rc == ERROR_NONE)
        rc = measure_columns(&d->newer, figure + 2 * dim, figure + 3 * dim, err);
    *out = 0;
    for (size_t c = 0; rc == ERROR_NONE && c < dim; c++) {
        const double shift = fabs(figure[2 * dim + c] - figure[c]);
        const double deviation = figure[dim + c];
        *out = fmax(*out, deviation > 0 ? shift / deviation : shift); /* a constant column has no
                                                                    * deviation to divide by */
    }
    memory_free(figure);
    return rc;
}

/* --- all of it --- */

static enum error_code check_kind(const struct drift *d, struct error *err)
{
    const struct dataset_schema *older = &d->older.schema, *newer = &d->newer.schema;
    bool same = dataset_type_count(older) == dataset_type_count(newer);
    for (uint32_t t = 0; same && t < dataset_type_count(newer); t++)
        same = dataset_type(older, t).feature_dim == dataset_type(newer, t).feature_dim;
    if (same)
        return ERROR_NONE;
    return error_set(
        err, ERROR_CORRUPT,
        "dataset %s is a version of %s: expected nodes of the same types with the same "
        "feature columns",
        newer->id, older->id);
}

enum error_code version_drift_measure(struct store *store, const char *older, const char *newer,
                                      int hop_count, struct version_drift *out, struct error *err)
{
    struct drift *d = NULL;
    enum error_code rc = memory_new(&d, 1, "the drift of a version", err);
    if (rc != ERROR_NONE)
        return rc;
    d->older.store = d->newer.store = store;
    out->valid_drop = (double)NAN;
    rc = dataset_schema_get(store, older, &d->older.schema, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(store, newer, &d->newer.schema, err);
    if (rc == ERROR_NONE)
        rc = check_kind(d, err);
    if (rc == ERROR_NONE)
        rc = map_nodes(d, err);
    if (rc == ERROR_NONE)
        rc = measure_touched(d, hop_count, &out->touched, err);
    if (rc == ERROR_NONE)
        rc = measure_degrees(d, &out->degree_drift, err);
    if (rc == ERROR_NONE)
        rc = measure_features(d, &out->feature_drift, err);
    rewind_reader(&d->older);
    rewind_reader(&d->newer);
    memory_free(d->older_of);
    memory_free(d->newer_of);
    memory_free(d->mark);
    memory_free(d);
    return rc;
}

bool version_drift_asks(const struct version_drift *drift, const struct pipeline_settings *settings,
                        char why[VERSION_DRIFT_WHY_SIZE])
{
    const struct {
        const char *name;
        double found, threshold;
    } figure[] = {
        {"ingest.retrain_touched", drift->touched, settings->ingest.retrain_touched},
        {"ingest.retrain_degree_drift", drift->degree_drift, settings->ingest.retrain_degree_drift},
        {"ingest.retrain_feature_drift", drift->feature_drift,
         settings->ingest.retrain_feature_drift},
        {"ingest.retrain_valid_drop", drift->valid_drop, settings->ingest.retrain_valid_drop},
    };
    size_t size = 0;
    why[0] = '\0';
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
        if (figure[i].threshold > 0 && figure[i].found >= figure[i].threshold)
            size += (size_t)snprintf(why + size, VERSION_DRIFT_WHY_SIZE - size,
                                     "%s%s: %.4g, from %.4g on", size ? "; " : "", figure[i].name,
                                     figure[i].found, figure[i].threshold);
    if (size == 0)
        (void)snprintf(why, VERSION_DRIFT_WHY_SIZE, "no figure has come to its threshold");
    return size > 0;
}
