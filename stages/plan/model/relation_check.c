#include "stages/plan/model/relation_check.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/model/embedding_shards.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/settings/relation_fanouts.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/records/dataset/dataset_types.h"

/* The schema's types and relations, in the form of the book that its partitions will have. */
struct schema_book {
    struct partition_book book;
    char name[RELATION_TYPE_COUNT_MAX][RELATION_NAME_SIZE];
    uint32_t dim[RELATION_TYPE_COUNT_MAX];
    struct relation relation[RELATION_COUNT_MAX];
    struct model model;
};

/* Adds the types and relations that have names. */
static void describe_types(const struct dataset_schema *schema, struct schema_book *out)
{
    if (!dataset_type(schema, 0).name[0])
        return;
    out->book.type_count = dataset_type_count(schema);
    out->book.relation_count = dataset_relation_count(schema);
    for (uint32_t t = 0; t < out->book.type_count; t++) {
        const struct node_type type = dataset_type(schema, t);
        must(text_copy(out->name[t], RELATION_NAME_SIZE, type.name));
        out->dim[t] = type.feature_dim;
    }
    for (uint32_t r = 0; r < out->book.relation_count; r++)
        out->relation[r] = dataset_relation(schema, r);
    out->book.target_type = schema->target_type;
    out->book.type_name = (const char(*)[RELATION_NAME_SIZE])out->name;
    out->book.type_dim = out->dim;
    out->book.relation = out->relation;
}

static void describe(const struct pipeline_settings *settings, const struct dataset_schema *schema,
                     struct schema_book *out)
{
    out->book = (struct partition_book){.part_count = (int)settings->partition.parts,
                                        .feature_dim = schema->feature_dim,
                                        .class_count = schema->class_count,
                                        .task = schema->task,
                                        .edge_width = schema->edge_width};
    describe_types(schema, out);
}

/* Refuses nodes of a type for which the model has nothing to read. */
static enum error_code refuse_type(const struct partition_book *book, uint32_t type,
                                   struct error *err)
{
    if (!book->type_name)
        return error_set(err, ERROR_INPUT,
                         "nodes have no features (`features: none` below `ingest:`), and none are "
                         "learnt for them: " ADVICE
                         "write `embedding: 64` below `train-step:`, or `features: "
                         "degree+random` below `ingest:`");
    return error_set(
        err, ERROR_INPUT,
        "nodes of type %s have no features%s, and none are learnt for them: " ADVICE "add "
        "%s-feat.npy, write `missing_features: degree` below `ingest:`, or "
        "`embedding: 64` below `train-step:`",
        book->type_name[type], partition_book_dim(book, type) ? " that the model reads" : "",
        book->type_name[type]);
}

static enum error_code check_features(const struct pipeline_settings *settings,
                                      const struct partition_book *book, struct error *err)
{
    struct embedding_tensors learnt = {0};
    enum error_code rc = embedding_tensors_of(settings, book, &learnt, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < partition_book_types(book); t++)
        if (run_model_type_dim(settings, book, t) == 0 && !embedding_tensor_of(&learnt, t))
            rc = refuse_type(book, t, err);
    return rc;
}

static enum error_code check_fanouts(const struct pipeline_settings *settings,
                                     const struct partition_book *book, struct error *err)
{
    const uint32_t count = partition_book_relations(book);
    int64_t *fanout = NULL;
    enum error_code rc = memory_new(&fanout, (size_t)count * (size_t)settings->sample.fanouts.count,
                                    "fan-outs of relations", err);
    if (rc == ERROR_NONE)
        rc = relation_fanouts_of(settings, book->relation, count, fanout, err);
    memory_free(fanout);
    return rc;
}

/* Checks that the sampler's parameters suit these types and relations, and that there is a model
 * over them. */
static enum error_code check_described(const struct pipeline_settings *settings,
                                       struct schema_book *described, struct error *err)
{
    const struct partition_book *book = &described->book;
    const struct sampler *sampler = pipeline_sampler(settings);
    enum error_code rc = check_features(settings, book, err);
    if (rc == ERROR_NONE)
        rc = check_fanouts(settings, book, err);
    if (rc == ERROR_NONE && sampler->check_relations)
        rc = sampler->check_relations(&settings->sample.option, book, err);
    return rc == ERROR_NONE && book->class_count > 0
               ? run_model_init(&described->model, settings, book, err)
               : rc;
}

enum error_code relation_check(const struct pipeline_settings *settings,
                               const struct dataset_schema *schema, struct error *err)
{
    struct schema_book *described = NULL;
    enum error_code rc = memory_new(&described, 1, "a model", err);
    if (rc != ERROR_NONE)
        return rc;
    describe(settings, schema, described);
    rc = check_described(settings, described, err);
    memory_free(described);
    return rc;
}
