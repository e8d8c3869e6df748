#include "stages/partition/partition_input.h"

#include "common/base/memory.h"
#include "stages/partition/given_ends.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/methods/node_assigner.h"
#include "stages/plan/model/identity.h"
#include "stages/plan/run/run_binding.h"
#include "stages/sampling/negative_list.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

/* Bytes for the arrays of a job; and for the program itself, chunks being read and shards being
 * written. */
enum { BYTES_PER_NODE = 40, BYTES_PER_LOAD = 12, BYTES_ASIDE = 64 << 20 };

/* Refuses more negatives than there are nodes to replace an end. */
static enum error_code check_negatives(const struct pipeline_settings *settings,
                                       const struct dataset_schema *schema, uint32_t type,
                                       struct error *err)
{
    const bool names_type = dataset_type_count(schema) > 1;
    const struct node_type of = dataset_type(schema, type);
    const int64_t wanted[] = {settings->sample.negatives, settings->sample.evaluation_negatives};
    static const char *const names[] = {"negatives", "evaluation_negatives"};
    for (int i = 0; i < 2; i++)
        if (wanted[i] >= of.node_count)
            return error_set(err, ERROR_INVALID,
                             "sample.%s is %" PRId64 ", expected fewer than nodes%s%s: the dataset "
                             "has %" PRIu32,
                             names[i], wanted[i], names_type ? " of type " : "",
                             names_type ? of.name : "", of.node_count);
    return ERROR_NONE;
}

/* Checks the negatives for the types at the ends that are replaced. */
static enum error_code check_ends(const struct pipeline_settings *settings,
                                  const struct dataset_schema *schema, struct error *err)
{
    const int64_t corrupt = settings->sample.corrupt;
    struct relation_reverses reverses;
    enum error_code rc = ERROR_NONE;
    dataset_reverses(schema, &reverses);
    for (uint32_t r = 0; rc == ERROR_NONE && r < reverses.count; r++) {
        const struct relation relation = dataset_relation(schema, r);
        if (!relation_is_forward(&reverses, r))
            continue;
        if (corrupt != CORRUPT_SOURCE)
            rc = check_negatives(settings, schema, relation.target_type, err);
        if (rc == ERROR_NONE && corrupt != CORRUPT_TARGET)
            rc = check_negatives(settings, schema, relation.source_type, err);
    }
    return rc;
}

/* Refuses pairs that cannot be drawn, before the work of cutting begins. */
static enum error_code check_pairs(const struct pipeline_settings *settings,
                                   const struct dataset_schema *schema, struct error *err)
{
    return task_has(schema->task, TASK_RANKS) ? check_ends(settings, schema, err) : ERROR_NONE;
}

/* Reads the graphs of a task of graphs, and checks that each part can have one. */
static enum error_code read_graphs(struct partition_input *input, struct error *err)
{
    const int64_t parts = input->context->settings->partition.parts;
    if (!task_has(input->schema.task, TASK_HAS_GRAPHS))
        return ERROR_NONE;
    const enum error_code rc = merged_graphs_get(input->context->store, input->schema.id,
                                                 input->schema.node_count, &input->graphs, err);
    if (rc != ERROR_NONE || parts <= input->graphs.graph_count)
        return rc;
    return error_set(err, ERROR_INVALID,
                     "partition.parts is %" PRId64 ", expected at most %" PRIu32
                     " parts: the dataset has that many graphs, and each is whole in a part",
                     parts, input->graphs.graph_count);
}

/* Refuses a method that does not suit the task, before the work of cutting begins. */
static enum error_code check_method(const struct pipeline_settings *settings,
                                    const struct dataset_schema *schema, struct error *err)
{
    if (task_has(schema->task, TASK_HAS_GRAPHS) && settings->partition.loads[0])
        return error_set(err, ERROR_INVALID,
                         "partition.loads is given, but with ingest.task: %s each graph is whole "
                         "in a part, whatever its loads are",
                         task_name(schema->task));
    return ERROR_NONE;
}

enum error_code partition_input_dataset(const struct stage_context *context,
                                        char dataset_id[ID_SIZE], struct error *err)
{
    struct key newest;
    enum error_code rc = run_input_switch(context->settings, "dataset", &newest, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(context->store, newest.text, dataset_id, ID_SIZE, err);
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT /* ingest sets a damaged ref again */
               ? error_set(err, ERROR_UNAVAILABLE, "no dataset yet; " ADVICE "run ingest")
               : rc;
}

enum error_code partition_input_read(struct partition_input *input,
                                     const struct stage_context *context, struct error *err)
{
    char dataset_id[ID_SIZE];
    *input = (struct partition_input){.context = context};
    const enum error_code rc = partition_input_dataset(context, dataset_id, err);
    return rc == ERROR_NONE ? partition_input_of(input, context, dataset_id, err) : rc;
}

enum error_code partition_input_of(struct partition_input *input,
                                   const struct stage_context *context, const char *dataset_id,
                                   struct error *err)
{
    *input = (struct partition_input){.context = context};
    enum error_code rc = dataset_schema_get(context->store, dataset_id, &input->schema, err);
    if (rc == ERROR_NONE)
        rc = identity_partition(context->store, context->settings, dataset_id, input->id, err);
    if (rc == ERROR_NONE && context->settings->partition.parts > input->schema.node_count)
        rc = error_set(err, ERROR_INVALID,
                       "partition.parts is %" PRId64 ", expected at most %" PRIu32
                       " parts: the dataset has that many nodes",
                       context->settings->partition.parts, input->schema.node_count);
    if (rc == ERROR_NONE)
        rc = check_method(context->settings, &input->schema, err);
    if (rc == ERROR_NONE)
        rc = check_pairs(context->settings, &input->schema, err);
    if (rc == ERROR_NONE)
        rc = given_ends_check(context->store, context->settings, &input->schema, err);
    if (rc == ERROR_NONE)
        rc = read_graphs(input, err);
    const uint64_t a_node =
        BYTES_PER_NODE + (context->settings->partition.loads[0] ? BYTES_PER_LOAD : 0);
    const uint64_t fixed = a_node * input->schema.node_count + BYTES_ASIDE;
    if (context->memory_bytes > fixed)
        input->budget_bytes = context->memory_bytes - fixed;
    return rc;
}

static enum error_code count_in_edges(void *in_degree, const struct edge_chunk *chunk,
                                      struct error *err)
{
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++)
        ((uint32_t *)in_degree)[chunk->first_node + row] =
            (uint32_t)(chunk->row_start[row + 1] - chunk->row_start[row]);
    return ERROR_NONE;
}

/* Copies the marks of graphs to their nodes. */
static void spread_marks(const struct partition_input *input, const uint8_t *of_graph)
{
    for (uint32_t node = 0; node < input->schema.node_count; node++)
        input->split_marks[node] = of_graph[input->graphs.graph_of[node]];
}

static enum error_code mark_splits(struct partition_input *input, struct error *err)
{
    struct store *store = input->context->store;
    const struct key key = key_dataset(input->schema.id, "splits");
    struct node_splits splits = {0};
    const uint32_t graphs = input->graphs.graph_count;
    uint8_t *own = NULL; /* for tasks of graphs */
    enum error_code rc = merged_splits_get(store, input->schema.id, &splits, err);
    if (rc == ERROR_NONE && graphs)
        rc = memory_new(&own, graphs, "split marks of graphs", err);
    uint8_t *marks = own ? own : input->split_marks;
    const uint32_t count = graphs ? graphs : input->schema.node_count;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        for (uint32_t i = 0; rc == ERROR_NONE && i < splits.count[s]; i++) {
            const uint32_t node = splits.node[s][i];
            if (node >= count || marks[node])
                rc =
                    error_set(err, ERROR_CORRUPT,
                              "%s: number %" PRIu32 " of split %d is out of range or in two splits",
                              key.text, node, s);
            else
                marks[node] = (uint8_t)(s + 1);
        }
    if (rc == ERROR_NONE && own)
        spread_marks(input, own);
    memory_free(own);
    store_release_record(&splits.view);
    return rc;
}

enum error_code partition_input_measure(struct partition_input *input, struct error *err)
{
    const size_t node_count = input->schema.node_count;
    enum error_code rc = memory_new(&input->in_degree, node_count, "in-degrees", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&input->split_marks, node_count, "split marks", err);
    if (rc == ERROR_NONE)
        rc = mark_splits(input, err);
    if (rc == ERROR_NONE)
        rc =
            edge_walk(input->context->store, &input->schema, count_in_edges, input->in_degree, err);
    return rc;
}

enum error_code partition_input_take_loads(struct partition_input *input, struct error *err)
{
    const char *path = input->context->settings->partition.loads;
    if (!path[0] || input->loads.load)
        return ERROR_NONE;
    return measured_loads_read(path, input->context->store, &input->schema, input->in_degree,
                               &input->loads, err);
}

struct partition_request partition_input_request(const struct partition_input *input)
{
    return (struct partition_request){
        .store = input->context->store,
        .settings = input->context->settings,
        .schema = &input->schema,
        .in_degree = input->in_degree,
        .split_marks = input->split_marks,
        .loads = input->loads.load ? &input->loads : NULL,
        .budget_bytes = input->budget_bytes,
    };
}

void partition_input_release(struct partition_input *input)
{
    store_release_record(&input->graphs.view);
    measured_loads_release(&input->loads);
    memory_free(input->split_marks);
    memory_free(input->in_degree);
    *input = (struct partition_input){0};
}
