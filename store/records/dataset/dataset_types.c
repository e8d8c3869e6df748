#include "store/records/dataset/dataset_types.h"

#include "common/base/text.h"
#include "store/records/dataset/feature_chunk.h"

#include <string.h>

uint32_t dataset_type_count(const struct dataset_schema *schema)
{
    return schema->has_relations ? schema->node_type_count : 1;
}

uint32_t dataset_relation_count(const struct dataset_schema *schema)
{
    return schema->has_relations ? schema->edge_type_count : 1;
}

struct node_type dataset_type(const struct dataset_schema *schema, uint32_t type)
{
    if (schema->has_relations)
        return schema->node_type[type];
    return (struct node_type){.node_count = schema->node_count, .feature_dim = schema->feature_dim};
}

const char *dataset_type_origin(const struct dataset_schema *schema, uint32_t type)
{
    return schema->has_relations ? schema->type_origin[type] : schema->feature_origin;
}

/* One of the relations as the schema describes it. */
static const struct edge_type *edge_type_of(const struct dataset_schema *schema, uint32_t relation)
{
    static const struct edge_type all = {.name = ""};
    return schema->has_relations ? &schema->edge_type[relation] : &all;
}

struct relation dataset_relation(const struct dataset_schema *schema, uint32_t relation)
{
    const struct edge_type *type = edge_type_of(schema, relation);
    struct relation out = {.source_type = type->source_type, .target_type = type->target_type};
    must(text_copy(out.name, sizeof out.name, type->name));
    return out;
}

struct edge_widths dataset_edge_widths(const struct dataset_schema *schema)
{
    struct edge_widths width = schema->edge_width;
    if (edge_type_of(schema, 0)->name[0])
        width.of[EDGE_TYPE] = 0;
    return width;
}

static struct relation_ends ends_of(const void *context, uint32_t relation)
{
    const struct edge_type *type = edge_type_of(context, relation);
    return (struct relation_ends){type->name, type->source_type, type->target_type};
}

void dataset_reverses(const struct dataset_schema *schema, struct relation_reverses *out)
{
    relation_reverses_find(ends_of, schema, dataset_relation_count(schema), out);
    for (uint32_t r = 0; r < out->count; r++)
        relation_reverses_add(out, r, schema->back_plus[r]);
}

uint64_t dataset_pair_count(const struct dataset_schema *schema)
{
    struct relation_reverses reverses;
    uint64_t count = schema->edge_count;
    dataset_reverses(schema, &reverses);
    for (uint32_t r = 0; r < reverses.count; r++)
        count -= relation_is_forward(&reverses, r) ? 0 : schema->edge_type[r].edge_count;
    return count;
}

uint32_t dataset_type_of(const struct dataset_schema *schema, uint32_t node)
{
    uint32_t type = dataset_type_count(schema) - 1;
    while (type > 0 && node < schema->node_type[type].first_node)
        type--;
    return type;
}

uint64_t dataset_first_feature_chunk(const struct dataset_schema *schema, uint32_t type)
{
    uint64_t chunks = 0;
    for (uint32_t t = 0; t < type; t++) {
        const struct node_type before = dataset_type(schema, t);
        chunks += feature_chunk_count(before.node_count, before.feature_dim);
    }
    return chunks;
}

uint64_t dataset_feature_chunks(const struct dataset_schema *schema)
{
    return dataset_first_feature_chunk(schema, dataset_type_count(schema));
}

int32_t dataset_edge_type_of(const struct dataset_schema *schema, uint32_t count, const char *text,
                             size_t size)
{
    int64_t number = 0;
    bool are_numbers = false;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = schema->edge_type[i].name;
        const size_t length = strlen(name);
        if (length == size && memcmp(name, text, size) == 0)
            return (int32_t)i;
        are_numbers |= text_int64(name, length, &number);
    }
    const bool is_number = !are_numbers && text_int64(text, size, &number);
    return is_number && number >= 0 && number < (int64_t)count ? (int32_t)number : -1;
}
