#include "stages/partition/given_ends.h"

#include "stages/sampling/negative_list.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

/* The edges of one file, and the setting that says which end its nodes replace. */
struct given_edges {
    const struct dataset_schema *schema;
    const char *file, *setting;
    int64_t end; /* enum corrupted_end */
    uint64_t count;
    const uint32_t *source, *target; /* [count] */
    const uint16_t *type;            /* [count]; NULL: one relation */
    const struct negative_ends *ends;
};

static const char *type_name(const struct given_edges *given, uint32_t type)
{
    return given->schema->node_type[type].name;
}

/* Refuses edge `i`, whose nodes are of type `found`, while the end that they replace is of type
 * `taken`. */
static enum error_code refuse(const struct given_edges *given, uint64_t i, uint32_t found,
                              uint32_t taken, struct error *err)
{
    static const char *const end_name[] = {
        [CORRUPT_SOURCE] = "source", [CORRUPT_TARGET] = "target", [CORRUPT_BOTH] = "both"};
    const uint16_t relation = given->type ? given->type[i] : 0;
    return error_set(err, ERROR_INPUT,
                     "ingest.%s: the nodes of the edge from %" PRIu32 " to %" PRIu32
                     " of relation %s are of type %s, but %s is %s, so that they replace nodes of "
                     "type %s: expected `%s: %s`, or nodes of type %s",
                     given->file, given->source[i], given->target[i],
                     given->schema->edge_type[relation].name, type_name(given, found),
                     given->setting, end_name[given->end], type_name(given, taken), given->setting,
                     found == given->schema->edge_type[relation].target_type ? "target" : "source",
                     type_name(given, taken));
}

static enum error_code check_edges(const struct given_edges *given, struct error *err)
{
    for (uint64_t i = 0; given->ends->start && i < given->count; i++) {
        const struct edge_type *relation =
            &given->schema->edge_type[given->type ? given->type[i] : 0];
        const uint32_t found =
            dataset_type_of(given->schema, given->ends->node[given->ends->start[i]]);
        if (given->end != CORRUPT_SOURCE && found != relation->target_type)
            return refuse(given, i, found, relation->target_type, err);
        if (given->end != CORRUPT_TARGET && found != relation->source_type)
            return refuse(given, i, found, relation->source_type, err);
    }
    return ERROR_NONE;
}

static enum error_code check_held(const struct pipeline_settings *settings,
                                  const struct dataset_schema *schema,
                                  const struct edge_splits *splits, struct error *err)
{
    static const char *const file[HELD_OUT_COUNT] = {
        [HELD_OUT_VALID] = "valid_negatives", [HELD_OUT_TEST] = "test_negatives"};
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        const struct given_edges given = {.schema = schema,
                                          .file = file[s],
                                          .setting = "infer.ranked_end",
                                          .end = settings->infer.ranked_end,
                                          .count = splits->count[s],
                                          .source = splits->source[s],
                                          .target = splits->target[s],
                                          .type = splits->type[s],
                                          .ends = &splits->negative[s]};
        rc = check_edges(&given, err);
    }
    return rc;
}

static enum error_code check_trained(const struct pipeline_settings *settings,
                                     const struct dataset_schema *schema,
                                     const struct edge_splits *splits, struct error *err)
{
    const struct trained_negatives *trained = &splits->trained;
    const struct given_edges given = {.schema = schema,
                                      .file = "train_negatives",
                                      .setting = "sample.corrupt",
                                      .end = settings->sample.corrupt,
                                      .count = trained->count,
                                      .source = trained->source,
                                      .target = trained->target,
                                      .type = trained->type,
                                      .ends = &trained->ends};
    return check_edges(&given, err);
}

enum error_code given_ends_check(struct store *store, const struct pipeline_settings *settings,
                                 const struct dataset_schema *schema, struct error *err)
{
    const bool trains = settings->sample.negative == NEGATIVE_GIVEN;
    const bool ranks = settings->infer.ranking == RANKING_GIVEN;
    struct edge_splits splits = {0};
    if (dataset_type_count(schema) == 1 || !task_has(schema->task, TASK_RANKS) ||
        (!trains && !ranks))
        return ERROR_NONE;
    enum error_code rc =
        merged_edge_splits_get(store, schema->id, schema->node_count, &splits, err);
    if (rc == ERROR_NONE && trains)
        rc = check_trained(settings, schema, &splits, err);
    if (rc == ERROR_NONE && ranks)
        rc = check_held(settings, schema, &splits, err);
    store_release_record(&splits.view);
    return rc;
}
