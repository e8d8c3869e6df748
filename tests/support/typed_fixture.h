/* typed_fixture - random blocks of a graph with relations: three node types, six relations, one of
 * them without edges. */
#ifndef TESTS_SUPPORT_TYPED_FIXTURE_H
#define TESTS_SUPPORT_TYPED_FIXTURE_H

#include "common/base/memory.h"
#include "common/graph/relation_block.h"
#include "common/nn/operators/gather.h"
#include "common/numbers/random.h"

enum { FIXTURE_TYPES = 3, FIXTURE_RELATIONS = 6, FIXTURE_HOPS_MAX = 3 };
enum { PAPER, AUTHOR, FIELD };

static const char fixture_type_names[FIXTURE_TYPES][RELATION_NAME_SIZE] = {"paper", "author",
                                                                           "field.of"};
static const struct relation fixture_relations[FIXTURE_RELATIONS] = {
    {"cites", PAPER, PAPER}, {"writes", AUTHOR, PAPER}, {"rev_writes", PAPER, AUTHOR},
    {"has", PAPER, FIELD},   {"rev_has", FIELD, PAPER}, {"never", AUTHOR, FIELD},
};
static const struct relation_schema fixture_schema = {
    .type_count = FIXTURE_TYPES,
    .relation_count = FIXTURE_RELATIONS,
    .type_name = fixture_type_names,
    .relation = fixture_relations,
};
/* The schema without the relation that has no reverse. */
static const struct relation_schema fixture_reversed_schema = {
    .type_count = FIXTURE_TYPES,
    .relation_count = FIXTURE_RELATIONS - 1,
    .type_name = fixture_type_names,
    .relation = fixture_relations,
};
/* One type, three relations. */
static const struct relation fixture_own_relations[] = {{"a", 0, 0}, {"b", 0, 0}, {"rev_a", 0, 0}};
static const struct relation_schema fixture_own_schema = {.type_count = 1,
                                                          .relation_count = 3,
                                                          .type_name = fixture_type_names,
                                                          .relation = fixture_own_relations};

struct typed_fixture {
    const struct relation_schema *schema;
    int hop_count;
    uint32_t count[FIXTURE_HOPS_MAX + 1][FIXTURE_TYPES]; /* from the input side */
    struct relation_edges edges[FIXTURE_HOPS_MAX][FIXTURE_RELATIONS];
    struct relation_block block[FIXTURE_HOPS_MAX];
    /* row_start, neighbour, row, degree, degree of sources */
    uint32_t *array[FIXTURE_HOPS_MAX][FIXTURE_RELATIONS][5];
    float *edge_value[FIXTURE_HOPS_MAX][FIXTURE_RELATIONS];
    float *edge_feature[FIXTURE_HOPS_MAX][FIXTURE_RELATIONS];
    float *sum[FIXTURE_HOPS_MAX][FIXTURE_RELATIONS][2]; /* of values, of sources and of targets */
    float *feature[FIXTURE_TYPES];
    uint32_t *row_index[FIXTURE_TYPES];
    struct input_rows rows[FIXTURE_TYPES];
};

static inline void typed_fixture_edges(struct typed_fixture *f, int hop, uint32_t r,
                                       uint32_t edges_most, bool values)
{
    const struct random_stream stream = random_stream_of(77, RANDOM_GENERATOR, (uint32_t)hop, r, 0);
    const struct relation *relation = &f->schema->relation[r];
    const uint32_t rows = f->count[hop + 1][relation->target_type];
    const uint32_t sources = f->count[hop][relation->source_type];
    const bool empty = f->schema == &fixture_schema && r == FIXTURE_RELATIONS - 1;
    uint32_t *row_start = memory_alloc((size_t)rows + 1, sizeof *row_start);
    uint32_t *neighbor = memory_alloc((size_t)rows * edges_most + 1, sizeof *neighbor);
    uint32_t *degree = memory_alloc((size_t)rows + 1, sizeof *degree);
    float *value = memory_alloc((size_t)rows * edges_most + 1, sizeof *value);
    row_start[0] = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t count = random_below(random_word(&stream, i, 0), edges_most + 1);
        count = empty || sources == 0 ? 0 : count;
        for (uint32_t k = 0; k < count; k++) {
            neighbor[row_start[i] + k] = random_below(random_word(&stream, i, 1 + k), sources);
            value[row_start[i] + k] = 0.5F + random_unit(random_word(&stream, i, 100 + k));
        }
        row_start[i + 1] = row_start[i] + count;
        degree[i] = count + count / 2;
    }
    f->array[hop][r][0] = row_start;
    f->array[hop][r][1] = neighbor;
    f->array[hop][r][3] = degree;
    f->edge_value[hop][r] = value;
    f->edges[hop][r] = (struct relation_edges){.block = {.destination_count = rows,
                                                         .source_count = sources,
                                                         .is_bipartite = true,
                                                         .row_start = row_start,
                                                         .neighbor = neighbor,
                                                         .degree = degree,
                                                         .edge_value = values ? value : NULL}};
}

/* Draws the degrees of the ends of edges. In a relation from a type to itself a node has the same
 * degree as a destination and as a source. */
static inline void typed_fixture_ends(struct typed_fixture *f, int hop, uint32_t r, bool values)
{
    const struct random_stream stream = random_stream_of(78, RANDOM_GENERATOR, (uint32_t)hop, r, 0);
    const struct relation *relation = &f->schema->relation[r];
    const uint32_t rows = f->count[hop + 1][relation->target_type];
    const uint32_t sources = f->count[hop][relation->source_type];
    uint32_t *degree = memory_alloc((size_t)sources + 1, sizeof *degree);
    float *source = memory_alloc((size_t)sources + 1, sizeof *source);
    float *target = memory_alloc((size_t)rows + 1, sizeof *target);
    for (uint32_t j = 0; j < sources; j++) {
        degree[j] = random_below(random_word(&stream, j, 0), 6); /* includes 0 */
        if (relation->source_type == relation->target_type && j < rows)
            degree[j] = f->array[hop][r][3][j];
        source[j] = 3 * random_unit(random_word(&stream, j, 1));
    }
    for (uint32_t i = 0; i < rows; i++)
        target[i] = 3 * random_unit(random_word(&stream, i, 2));
    f->array[hop][r][4] = degree;
    f->sum[hop][r][0] = source;
    f->sum[hop][r][1] = target;
    f->edges[hop][r].source_degree = degree;
    f->edges[hop][r].source_sum = values ? source : NULL;
    f->edges[hop][r].target_sum = values ? target : NULL;
}

/* Makes the blocks. count [hops + 1][types] from the input side; input_dim [types]. */
static inline void typed_fixture_make(struct typed_fixture *f, const struct relation_schema *schema,
                                      int hop_count, const uint32_t count[][FIXTURE_TYPES],
                                      const uint32_t *input_dim, uint32_t edges_most, bool values)
{
    const struct random_stream stream = random_stream_of(5, RANDOM_FEATURE, 0, 0, 0);
    *f = (struct typed_fixture){.schema = schema, .hop_count = hop_count};
    for (int h = 0; h <= hop_count; h++)
        for (uint32_t t = 0; t < FIXTURE_TYPES && t < schema->type_count; t++)
            f->count[h][t] = count[h][t];
    for (int h = 0; h < hop_count; h++) {
        for (uint32_t r = 0; r < schema->relation_count; r++) {
            typed_fixture_edges(f, h, r, edges_most, values);
            typed_fixture_ends(f, h, r, values);
        }
        f->block[h] = (struct relation_block){f->count[h + 1], f->count[h], f->edges[h]};
    }
    for (uint32_t t = 0; t < schema->type_count; t++) {
        const size_t rows = f->count[0][t], dim = input_dim[t];
        f->feature[t] = memory_alloc(rows * (dim + 1) + 1, sizeof *f->feature[t]);
        f->row_index[t] = memory_alloc(rows + 1, sizeof *f->row_index[t]);
        for (size_t i = 0; i < rows * (dim + 1); i++)
            f->feature[t][i] = 2 * random_unit(random_word(&stream, i, t)) - 1;
        for (size_t i = 0; i < rows; i++)
            f->row_index[t][i] = (uint32_t)(rows - 1 - i);
        f->rows[t] = (struct input_rows){
            .base = f->feature[t], .stride = dim + 1, .row_index = f->row_index[t]};
    }
}

/* Gives edges features of `dim` columns; nothing without columns. */
static inline void typed_fixture_features(struct typed_fixture *f, uint32_t dim)
{
    for (int h = 0; h < f->hop_count && dim; h++)
        for (uint32_t r = 0; r < f->schema->relation_count; r++) {
            const struct random_stream stream =
                random_stream_of(79, RANDOM_FEATURE, (uint32_t)h, r, 0);
            struct message_block *block = &f->edges[h][r].block;
            const size_t count = (size_t)message_block_edges(block) * dim;
            float *feature = memory_alloc(count + 1, sizeof *feature);
            for (size_t i = 0; i < count; i++)
                feature[i] = 2 * random_unit(random_word(&stream, i, 0)) - 1;
            f->edge_feature[h][r] = feature;
            block->edge_feature = feature;
            block->edge_feature_dim = dim;
        }
}

/* Leaves out the rows without edges. */
static inline void typed_fixture_name_rows(struct typed_fixture *f)
{
    for (int h = 0; h < f->hop_count; h++)
        for (uint32_t r = 0; r < f->schema->relation_count; r++) {
            struct message_block *block = &f->edges[h][r].block;
            uint32_t *start = f->array[h][r][0], *degree = f->array[h][r][3], count = 0;
            uint32_t *row = memory_alloc((size_t)block->destination_count + 1, sizeof *row);
            for (uint32_t i = 0; i < block->destination_count; i++)
                if (start[i] < start[i + 1]) {
                    degree[count] = degree[i];
                    row[count] = i;
                    start[++count] = start[i + 1];
                }
            block->destination_count = count;
            f->array[h][r][2] = row;
            f->edges[h][r].row = row;
        }
}

static inline void typed_fixture_release(struct typed_fixture *f)
{
    for (int h = 0; h < f->hop_count; h++)
        for (uint32_t r = 0; r < f->schema->relation_count; r++) {
            for (int i = 0; i < 5; i++)
                memory_free(f->array[h][r][i]);
            memory_free(f->edge_value[h][r]);
            memory_free(f->edge_feature[h][r]);
            memory_free(f->sum[h][r][0]);
            memory_free(f->sum[h][r][1]);
        }
    for (uint32_t t = 0; t < f->schema->type_count; t++) {
        memory_free(f->feature[t]);
        memory_free(f->row_index[t]);
    }
}

#endif
