#include "stages/plan/relation_check.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/embedding_tensors.h"
#include "stages/plan/relation_fanouts.h"
#include "stages/plan/run_model.h"
#include "stages/sampling/sampler.h"
#include "store/records/dataset_types.h"

#include <stdio.h>

static enum error_code check_features(const struct pipeline_settings *settings,
                                      const struct dataset_schema *schema, struct error *err)
{
    const uint32_t count = schema->node_type_count;
    char(*name)[RELATION_NAME_SIZE] = NULL;
    uint32_t dim[RELATION_TYPE_COUNT_MAX];
    struct embedding_tensors learnt = {0};
    enum error_code rc = memory_new(&name, count, "names of node types", err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < count; t++) {
        (void)snprintf(name[t], sizeof name[t], "%s", schema->node_type[t].name);
        dim[t] = schema->node_type[t].feature_dim;
    }
    if (rc == ERROR_NONE)
        rc = embedding_tensors_of_types(settings, (const char(*)[RELATION_NAME_SIZE])name, dim,
                                        count, (int32_t)settings->partition.parts, &learnt, err);
    memory_free(name);
    for (uint32_t t = 0; rc == ERROR_NONE && t < count; t++)
        if ((dim[t] == 0 || !settings->train_step.features) && !embedding_tensor_of(&learnt, t))
            rc = error_set(
                err, ERROR_INPUT,
                "nodes of type %s have no features%s, and none are learnt for them: " ADVICE "add "
                "%s-feat.npy, write `missing_features: degree` below `ingest:`, or "
                "`embedding: 64` below `train-step:`",
                schema->node_type[t].name, dim[t] ? " that the model reads" : "",
                schema->node_type[t].name);
    return rc;
}

static enum error_code check_fanouts(const struct pipeline_settings *settings,
                                     const struct dataset_schema *schema, struct error *err)
{
    const uint32_t count = dataset_relation_count(schema);
    struct relation *relation = NULL;
    int64_t *fanout = NULL;
    enum error_code rc = memory_new(&relation, count, "the relations of a graph", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&fanout, (size_t)count * (size_t)settings->sample.fanouts.count,
                        "fan-outs of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < count; r++)
        relation[r] = dataset_relation(schema, r);
    if (rc == ERROR_NONE)
        rc = relation_fanouts_of(settings, relation, count, fanout, err);
    memory_free(fanout);
    memory_free(relation);
    return rc;
}

/* The schema's types and relations, in the form of the book that its partitions will have. */
struct schema_book {
    struct partition_book book;
    char name[RELATION_TYPE_COUNT_MAX][RELATION_NAME_SIZE];
    uint32_t dim[RELATION_TYPE_COUNT_MAX];
    struct relation relation[RELATION_COUNT_MAX];
    struct model model;
};

static void describe(const struct pipeline_settings *settings, const struct dataset_schema *schema,
                     struct schema_book *out)
{
    const uint32_t types = dataset_type_count(schema), relations = dataset_relation_count(schema);
    for (uint32_t t = 0; t < types; t++) {
        must(text_copy(out->name[t], RELATION_NAME_SIZE, schema->node_type[t].name));
        out->dim[t] = schema->node_type[t].feature_dim;
    }
    for (uint32_t r = 0; r < relations; r++)
        out->relation[r] = dataset_relation(schema, r);
    out->book = (struct partition_book){.part_count = (int)settings->partition.parts,
                                        .feature_dim = schema->feature_dim,
                                        .class_count = schema->class_count,
                                        .task = schema->task,
                                        .edge_width = schema->edge_width,
                                        .type_count = types,
                                        .relation_count = relations,
                                        .target_type = schema->target_type,
                                        .type_name = (const char(*)[RELATION_NAME_SIZE])out->name,
                                        .type_dim = out->dim,
                                        .relation = out->relation};
}

/* Checks that the sampler's parameters suit these types and relations, and that there is a model
 * over them. */
static enum error_code check_relations(const struct pipeline_settings *settings,
                                       const struct dataset_schema *schema, struct error *err)
{
    struct schema_book *described = NULL;
    enum error_code rc = memory_new(&described, 1, "a model", err);
    if (rc != ERROR_NONE)
        return rc;
    describe(settings, schema, described);
    if (pipeline_sampler(settings)->check_relations)
        rc = pipeline_sampler(settings)->check_relations(&settings->sample.option, &described->book,
                                                         err);
    if (rc == ERROR_NONE && schema->class_count > 0)
        rc = run_model_init(&described->model, settings, &described->book, err);
    memory_free(described);
    return rc;
}

enum error_code relation_check(const struct pipeline_settings *settings,
                               const struct dataset_schema *schema, struct error *err)
{
    enum error_code rc = check_features(settings, schema, err);
    if (rc == ERROR_NONE)
        rc = check_fanouts(settings, schema, err);
    return rc == ERROR_NONE ? check_relations(settings, schema, err) : rc;
}
