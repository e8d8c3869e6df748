#include "stages/ingest/update/update_reader.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/merged_records.h"
#include "store/versions/version_fold.h"

#include <inttypes.h>
#include <string.h>

enum error_code update_reader_take(struct update_reader *reader, uint64_t bytes, struct error *err)
{
    char have[32];
    reader->used_bytes += bytes;
    if (reader->used_bytes <= reader->memory_bytes / 2)
        return ERROR_NONE;
    return error_set(
        err, ERROR_NO_MEMORY,
        "an update is held in memory, and takes more than half of the budget of %s: " ADVICE
        "give more --memory, or several updates",
        text_size(reader->memory_bytes, have));
}

/* Checks that the version has training nodes, or graphs. */
static enum error_code check_training(struct update_reader *reader, struct error *err)
{
    const struct dataset_delta *delta = &reader->delta;
    const bool of_graphs = update_graphs_are_many(&reader->graphs);
    const uint8_t *is_gone = of_graphs ? reader->graphs.is_gone : reader->is_gone;
    const uint32_t count = of_graphs ? delta->base_graphs : reader->schema->node_count;
    struct node_splits splits;
    uint64_t left = 0;
    if (reader->schema->train_count == 0)
        return ERROR_NONE;
    const enum error_code rc = merged_splits_get(reader->store, reader->schema->id, &splits, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < splits.count[SPLIT_TRAIN]; i++) {
        const uint32_t node = splits.node[SPLIT_TRAIN][i];
        left += node < count && !is_gone[node];
    }
    store_release_record(&splits.view);
    for (uint32_t i = 0; i < dataset_delta_targets(delta); i++)
        left += delta->new_split[i] == 1 + SPLIT_TRAIN;
    return left ? ERROR_NONE
                : error_set(err, ERROR_INPUT, "%s: no training %s stays, expected one at least",
                            reader->request->remove_nodes, task_subject(reader->schema->task));
}

static bool is_empty(const struct dataset_delta *delta)
{
    return !delta->added_nodes && !delta->gone_nodes && !delta->gone_edges && !delta->added_edges &&
           !delta->rows;
}

/* Sets the types and relations of the delta, if there are several. */
static void tell_types(struct update_reader *reader)
{
    const struct dataset_schema *schema = reader->schema;
    struct dataset_delta *delta = &reader->delta;
    reader->relation_count = update_relation_count(schema, reader->settings);
    reader->has_reverses = reader->relation_count < schema->edge_type_count;
    dataset_reverses(schema, &reader->reverses);
    delta->relation_count = version_relation_count(schema);
    if (schema->node_type_count == 1)
        return;
    for (uint32_t t = 0; t < schema->node_type_count; t++) {
        reader->base_of_type[t] = schema->node_type[t].node_count;
        reader->columns_of_type[t] = dataset_type(schema, t).feature_dim;
    }
    delta->type_count = schema->node_type_count;
    delta->base_of_type = reader->base_of_type;
    delta->added_of_type = reader->added_of_type;
    delta->columns_of_type = reader->columns_of_type;
}

/* Reads times of new edges in the unit of the dataset's times, whatever ingest.time_format says. */
static enum error_code open_times(struct update_reader *reader, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    struct time_format stored;
    char meaning[32], expected[32];
    /* the setting was checked before */
    must(!time_format_read(reader->settings->ingest.time_format, &reader->notes.time));
    must(time_format_of_meaning(schema->time_unit, &stored)); /* the schema was checked before */
    if (reader->notes.time.kind == TIME_AUTO)
        reader->notes.time = stored;
    (void)time_format_meaning(&stored, expected);
    (void)time_format_meaning(&reader->notes.time, meaning);
    if (!edge_widths_are_timed(&schema->edge_width) || strcmp(meaning, expected) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.time_format is '%.60s', which makes times of the unit `%s`: expected "
                     "a format of the unit `%s`, as the times of the dataset have",
                     reader->settings->ingest.time_format, meaning, expected);
}

/* Refuses an update of a dataset with times of nodes: new nodes would have none. */
static enum error_code check_node_times(struct update_reader *reader, struct error *err)
{
    if (!reader->settings->ingest.node_times[0])
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "ingest.node_times is '%s', and an update has no times for nodes: expected the "
        "whole graph brought in anew",
        reader->settings->ingest.node_times);
}

/* Refuses added or removed edges if weights are ranks. A rank is a share of all edges, so one edge
 * more or less changes the weights of the others. */
static enum error_code check_ranks(struct update_reader *reader, struct error *err)
{
    const struct update_request *request = reader->request;
    const bool changes_edges = request->add_edges || request->remove_edges || request->remove_nodes;
    if (reader->settings->ingest.weight_scale != WEIGHTS_RANK ||
        !reader->schema->edge_width.of[EDGE_WEIGHT] || !changes_edges)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.weight_scale is rank, and an update of edges or nodes would change "
                     "the ranks of all other edges: expected `weight_scale: log` or `as_given`, or "
                     "a new ingest of the whole graph");
}

enum error_code update_reader_run(struct update_reader *reader, struct error *err)
{
    static enum error_code (*const step[])(struct update_reader *, struct error *) = {
        check_node_times,    check_ranks,
        open_times,          update_links_open,
        update_labels_open,  update_graphs_open,
        update_nodes_remove, update_graphs_remove,
        update_edges_remove, update_links_check_gone,
        update_nodes_add,    update_edges_add,
        update_links_settle, update_links_check_new,
        update_rows_take,    check_training};
    enum error_code rc = update_check_dataset(reader->schema, err);
    reader->delta.base_nodes = reader->schema->node_count;
    tell_types(reader);
    if (rc == ERROR_NONE)
        rc = living_nodes_open(&reader->nodes, reader->store, reader->schema, reader->memory_bytes,
                               err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof step / sizeof *step; i++)
        rc = step[i](reader, err);
    if (rc == ERROR_NONE && reader->absorbed)
        log_info("%" PRIu64 " of the added edges are between nodes whose link is held out, and are "
                 "left out: training must not see them",
                 reader->absorbed);
    for (int i = 0; rc == ERROR_NONE && i < reader->notes.loss.column_count; i++)
        log_warn("%s: a feature or weight is stored in 32-bit floating point, which holds "
                 "integers up to 16,777,216",
                 reader->notes.loss.first[i].text);
    if (rc == ERROR_NONE && is_empty(&reader->delta))
        rc = error_set(err, ERROR_INPUT, "the files of the update change nothing%s",
                       reader->absorbed ? ": the links of its edges are held out already" : "");
    return rc;
}

void update_reader_release(struct update_reader *reader)
{
    living_nodes_release(&reader->nodes);
    update_graphs_release(&reader->graphs);
    edge_columns_release(&reader->columns);
    edge_labels_release(&reader->labels);
    for (uint32_t t = 0; t < NODE_TYPE_COUNT_MAX; t++)
        store_release_record(&reader->statistics[t].view);
    memory_free(reader->is_gone);
    memory_free(reader->gone_node);
    memory_free(reader->gone);
    memory_free(reader->gone_relation);
    memory_free(reader->gone_source);
    memory_free(reader->gone_target);
    memory_free(reader->source);
    memory_free(reader->edge_place);
    update_paths_release(&reader->paths);
    memory_free(reader->target);
    memory_free(reader->label);
    memory_free(reader->split);
    memory_free(reader->row_node);
    memory_free(reader->row);
    memory_free(reader->has_row);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        memory_free(reader->held_key[s]);
    memory_free(reader->new_held);
    *reader = (struct update_reader){0};
}
