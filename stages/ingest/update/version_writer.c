#include "stages/ingest/update/version_writer.h"

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/ingest/build/nodes/feature_maker.h"
#include "stages/ingest/update/version_count.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/feature_statistics.h"
#include "store/records/dataset/node_columns.h"
#include "store/versions/fold_graphs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- which form
 * -------------------------------------------------------------------------------------- */

/* Returns the approximate bytes of the version written whole. */
static double whole_bytes(const struct version_fold *fold)
{
    const struct dataset_schema *base = &fold->base;
    const struct task *task = version_label_task(base);
    const double edge = (double)(sizeof(uint32_t) + edge_widths_bytes(&base->edge_width));
    const double label = (double)(task ? task->label_width(base->class_count) * 4ULL : 0);
    const double node = (double)(sizeof(uint64_t) + (fold->graphs.count ? sizeof(uint32_t) : 0));
    double rows = 0;
    for (uint32_t t = 0; t < fold->numbers.type_count; t++)
        rows += (double)(fold->numbers.first[t + 1] - fold->numbers.first[t]) *
                (double)(dataset_type(base, t).feature_dim * sizeof(float));
    return edge * (double)base->edge_count + node * fold->node_count +
           label * version_targets(fold) + rows;
}

/* Finds the last whole version before this one. */
static enum error_code find_base(const struct version_draft *m, char base[ID_SIZE],
                                 struct error *err)
{
    const enum error_code rc = dataset_merge_base(m->store, m->delta->base, base, err);
    if (rc == ERROR_NONE && !base[0])
        (void)text_copy(base, ID_SIZE, m->delta->base);
    return rc;
}

/* Folds the deltas, and decides on the form by their size. */
static enum error_code decide(struct version_draft *m, struct error *err)
{
    char base[ID_SIZE];
    enum error_code rc = find_base(m, base, err);
    if (rc == ERROR_NONE && m->form == VERSION_AS_FITS)
        rc = store_has(m->store, key_dataset(m->id, "merge").text, &m->is_merged, err);
    if (rc == ERROR_NONE)
        rc =
            version_fold_make(m->store, m->id, base, m->settings->ingest.self_loops == EDGES_REMOVE,
                              m->settings->ingest.duplicates != EDGES_KEEP, &m->fold, err);
    if (rc != ERROR_NONE)
        return rc;
    const double share = (double)m->fold->delta_bytes / whole_bytes(m->fold);
    if (m->form == VERSION_AS_FITS)
        m->is_merged |=
            share <= m->settings->partition.compact && m->fold->depth <= MERGED_DEPTH_MAX;
    else
        m->is_merged = m->form == VERSION_MERGED;
    for (uint32_t t = 0; t < dataset_type_count(&m->fold->base); t++)
        m->makes_features |= version_makes_features(&m->fold->base, t);
    log_info("dataset base=%s deltas=%zu changed_share=%.4f form=%s", base, m->fold->depth, share,
             m->is_merged ? "merged" : "whole");
    return ERROR_NONE;
}

/* ---- common records
 * ---------------------------------------------------------------------------------- */

/* Copies the statistics by which given features were scaled from the root, because a model that was
 * trained on it needs them. */
static enum error_code copy_statistics(const struct version_draft *m, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(&m->schema); t++) {
        struct feature_statistics by;
        if (version_makes_features(&m->schema, t))
            continue;
        rc = feature_statistics_get(m->store, m->delta->base, t, &by, err);
        if (rc == ERROR_NOT_FOUND) {
            rc = ERROR_NONE;
            continue;
        }
        if (rc == ERROR_NONE)
            rc = feature_statistics_put(m->store, m->id, t, &by, err);
        store_release_record(&by.view);
    }
    return rc;
}

/* Copies the words of classes and encoded columns from the root. */
static enum error_code copy_columns(const struct version_draft *m, struct error *err)
{
    struct column_encoding encoding = {0};
    enum error_code rc = node_columns_get(m->store, m->delta->base, &encoding, err);
    if (rc == ERROR_NONE && (encoding.class_count || encoding.column_count))
        rc = node_columns_put(m->store, m->id, &encoding, err);
    column_encoding_release(&encoding);
    return rc;
}

static enum error_code put_merge(const struct version_draft *m, struct error *err)
{
    struct dataset_merge merge = {.skips_self_loops = m->fold->skips_self_loops,
                                  .removes_repeated = m->fold->removes_repeated,
                                  .chunk_count = m->chunk_count,
                                  .base_chunk_count = m->fold->base.edge_chunk_count,
                                  .first_node = m->first,
                                  .base_first = m->base_first,
                                  .class_count = m->train_class ? m->schema.class_count : 0,
                                  .train_class = m->train_class};
    must(text_copy(merge.base, sizeof merge.base, m->fold->base.id));
    return dataset_merge_put(m->store, m->id, &merge, err);
}

/* Stores the schema, which commits the version. */
static enum error_code put_schema(struct version_draft *m, const struct pipeline_settings *settings,
                                  struct error *err)
{
    struct json_writer report = {0};
    dataset_summary_report(&m->summary, &m->schema, settings, &report);
    enum error_code rc = json_writer_finish(&report, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_put_with_report(m->store, &m->schema, report.text, err);
    json_writer_release(&report);
    return rc;
}

/* ---- features that are made
 * ----------------------------------------------------------------------- */

/* Makes a copy of the root's settings, with the class count that the dataset has. */
static enum error_code own_settings(const struct version_draft *m, struct pipeline_settings **out,
                                    struct error *err)
{
    const enum error_code rc = memory_new(out, 1, "settings", err);
    if (rc != ERROR_NONE)
        return rc;
    **out = *m->settings;
    (*out)->ingest.class_count = m->schema.class_count;
    return ERROR_NONE;
}

/* Sets the choice of features that gives this origin. */
static void choose_features(struct pipeline_settings *settings, const char *origin)
{
    static const struct {
        const char *origin;
        enum feature_choice choice;
    } made[] = {{"degree", FEATURES_DEGREE},
                {"random", FEATURES_RANDOM},
                {"degree+random", FEATURES_DEGREE_RANDOM}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (strcmp(origin, made[i].origin) == 0)
            settings->ingest.features = (struct choice_or_path){.choice = made[i].choice};
}

/* Checks the memory for a version that is written whole, one chunk at a time. */
static enum error_code check_budget(const struct version_draft *m, uint64_t features,
                                    struct error *err)
{
    const uint64_t rows =
        m->schema.node_count < EDGE_CHUNK_NODES_MAX ? m->schema.node_count : EDGE_CHUNK_NODES_MAX;
    const uint64_t edges =
        m->is_merged
            ? 0
            : (rows + 1) * sizeof(uint64_t) +
                  m->largest_chunk * (sizeof(uint32_t) + edge_widths_bytes(&m->schema.edge_width));
    const uint64_t wanted = edges > features ? edges : features;
    char have[32], want[32];
    return wanted <= m->memory_bytes
               ? ERROR_NONE
               : error_set(err, ERROR_NO_MEMORY,
                           "a chunk of %s takes %s: expected a memory budget of at least that, "
                           "found %s",
                           edges > features ? "edges" : "features", text_size(wanted, want),
                           text_size(m->memory_bytes, have));
}

/* Makes the features of a type, or of all nodes, with scratch files in `folder`. Their chunks begin
 * at *chunk. */
static enum error_code make_features(struct version_draft *m,
                                     const struct pipeline_settings *settings, uint32_t t,
                                     const char *folder, uint64_t *chunk, struct error *err)
{
    const struct node_type type = dataset_type(&m->schema, t);
    struct feature_maker maker = {0};
    char path[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/features", folder);
    if (rc == ERROR_NONE)
        rc = feature_maker_open(&maker, path, settings, type.first_node, type.node_count, err);
    if (m->schema.has_relations) {
        maker.type = m->schema.node_type[t].name;
        maker.type_number = t;
    }
    if (rc == ERROR_NONE)
        rc = feature_maker_choose(&maker, settings, err);
    if (rc == ERROR_NONE)
        rc = check_budget(m, feature_maker_bytes(&maker), err);
    maker.in_degree = m->in_degree;
    maker.out_degree = m->out_degree ? m->out_degree : m->in_degree;
    if (rc == ERROR_NONE)
        rc = feature_maker_write(&maker, m->store, m->id, chunk, err);
    if (rc == ERROR_NONE) {
        m->summary.feature_numbers += (uint64_t)type.node_count * maker.dim;
        m->summary.feature_zeros += maker.zero_count;
    }
    feature_maker_close(&maker);
    return rc;
}

/* Writes chunks [first, end) of given features. */
static enum error_code write_given(const struct version_draft *m, uint64_t first, uint64_t end,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t c = first; rc == ERROR_NONE && c < end; c++) {
        struct feature_chunk chunk;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        rc = version_features(m->fold, m->store, (int64_t)c, &chunk, err);
        if (rc != ERROR_NONE)
            return rc;
        rc = feature_chunk_put(m->store, m->id, (int64_t)c, &chunk, err);
        store_release_record(&chunk.view);
    }
    return rc;
}

/* Stores the features. Features that ingest makes may change for every node, so both forms store
 * them, and readers of a merged version read them as stored. Given features are written whole, or
 * left to be merged by readers. */
static enum error_code store_features(struct version_draft *m, struct pipeline_settings *settings,
                                      const char *folder, struct error *err)
{
    const struct choice_or_path choice = settings->ingest.features;
    uint64_t chunk = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(&m->schema); t++) {
        const struct node_type type = dataset_type(&m->schema, t);
        const uint64_t first = chunk;
        if (version_makes_features(&m->schema, t)) {
            choose_features(settings, dataset_type_origin(&m->schema, t));
            rc = make_features(m, settings, t, folder, &chunk, err);
            continue;
        }
        chunk += feature_chunk_count(type.node_count, type.feature_dim);
        if (!m->is_merged)
            rc = write_given(m, first, chunk, err);
    }
    settings->ingest.features = choice;
    m->schema.feature_chunk_count = chunk;
    return rc;
}

static enum error_code make_and_store_features(struct version_draft *m,
                                               struct pipeline_settings *settings,
                                               struct error *err)
{
    char folder[FILE_PATH_SIZE] = "";
    enum error_code rc = m->makes_features ? store_scratch(m->store, folder, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = store_features(m, settings, folder, err);
    /* store_sweep() removes what remains */
    if (folder[0])
        error_ignore(file_remove_all(folder, NULL));
    return rc;
}

/* ---- whole
 * ---------------------------------------------------------------------------------------- */

static enum error_code write_edges(const struct version_draft *m, struct error *err)
{
    struct base_cursor cursor = {.store = m->store, .first = m->base_first};
    enum error_code rc = ERROR_NONE;
    for (uint64_t c = 0; rc == ERROR_NONE && c < m->chunk_count; c++) {
        struct edge_chunk chunk = {0};
        if (stop_signal_seen())
            rc = error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        else
            rc = version_edges(m->fold, &cursor, m->first[c], m->first[c + 1], &chunk, NULL, err);
        if (rc == ERROR_NONE)
            rc = edge_chunk_put(m->store, m->id, (int64_t)c, &chunk, err);
        store_release_record(&chunk.view);
    }
    base_cursor_close(&cursor);
    return rc;
}

static enum error_code write_targets(const struct version_draft *m, struct error *err)
{
    struct node_labels labels;
    struct node_splits splits;
    struct edge_splits links;
    enum error_code rc = version_splits(m->fold, m->store, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = node_splits_put(m->store, key_dataset(m->id, "splits").text, m->id, &splits, err);
    store_release_record(&splits.view);
    if (rc == ERROR_NONE && version_label_task(&m->schema)) {
        rc = version_labels(m->fold, m->store, &labels, err);
        if (rc != ERROR_NONE)
            return rc;
        rc = node_labels_put(m->store, m->id, &labels, err);
        store_release_record(&labels.view);
    }
    if (rc == ERROR_NONE && task_has(m->schema.task, TASK_HOLDS_OUT_EDGES)) {
        rc = version_edge_splits(m->fold, m->store, m->train_class, NULL, &links, err);
        if (rc != ERROR_NONE)
            return rc;
        rc = edge_splits_put(m->store, key_dataset(m->id, "edge_splits").text, m->id, &links, err);
        store_release_record(&links.view);
    }
    return rc;
}

/* Writes the graphs of a dataset of many graphs. */
static enum error_code write_graphs(const struct version_draft *m, struct error *err)
{
    struct graph_index graphs;
    if (!m->fold->graphs.count)
        return ERROR_NONE;
    enum error_code rc = version_graphs(m->fold, m->store, &graphs, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = graph_index_put(m->store, key_dataset(m->id, "graphs").text, m->id, &graphs, err);
    store_release_record(&graphs.view);
    return rc;
}

static enum error_code write_ids(const struct version_draft *m, struct error *err)
{
    struct node_ids ids;
    bool are_numbers = false;
    enum error_code rc = version_ids(m->fold, m->store, &are_numbers, &ids, err);
    if (rc != ERROR_NONE || are_numbers)
        return rc;
    rc = node_ids_put(m->store, m->id, &ids, err);
    store_release_record(&ids.view);
    return rc;
}

static enum error_code write_whole(const struct version_draft *m, struct error *err)
{
    enum error_code rc = write_edges(m, err);
    if (rc == ERROR_NONE)
        rc = write_targets(m, err);
    if (rc == ERROR_NONE)
        rc = write_graphs(m, err);
    return rc == ERROR_NONE ? write_ids(m, err) : rc;
}

/* ---- the version
 * ------------------------------------------------------------------------------------- */

static enum error_code write_version(struct version_draft *m, struct error *err)
{
    struct pipeline_settings *own = NULL;
    enum error_code rc = decide(m, err);
    if (rc == ERROR_NONE)
        rc = version_count(m, err);
    if (rc == ERROR_NONE)
        rc = own_settings(m, &own, err);
    if (rc == ERROR_NONE && !m->is_merged)
        rc = check_budget(m, 0, err);
    if (rc == ERROR_NONE)
        rc = make_and_store_features(m, own, err);
    if (rc == ERROR_NONE)
        rc = copy_statistics(m, err);
    if (rc == ERROR_NONE)
        rc = copy_columns(m, err);
    if (rc == ERROR_NONE)
        rc = m->is_merged ? put_merge(m, err) : write_whole(m, err);
    if (rc == ERROR_NONE)
        rc = put_schema(m, own, err);
    memory_free(own);
    return rc;
}

enum error_code version_writer_run(struct store *store, const struct pipeline_settings *settings,
                                   const char *dataset_id, const struct dataset_delta *delta,
                                   const struct update_places *places, enum version_form form,
                                   uint64_t memory_bytes, struct error *err)
{
    struct version_draft *m = NULL;
    enum error_code rc = memory_new(&m, 1, "a version of a dataset", err);
    if (rc != ERROR_NONE)
        return rc;
    m->store = store;
    m->settings = settings;
    m->id = dataset_id;
    m->delta = delta;
    m->places = places;
    m->form = form;
    m->memory_bytes = memory_bytes;
    m->repeated.first = UINT64_MAX;
    rc = write_version(m, err);
    version_fold_drop(m->fold);
    dataset_summary_release(&m->summary);
    memory_free(m->base_first);
    memory_free(m->first);
    memory_free(m->is_linked);
    memory_free(m->in_degree);
    memory_free(m->out_degree);
    memory_free(m->train_class);
    memory_free(m);
    return rc;
}
