#include "tests/support/block_fixture.h"

#include "common/base/error.h"
#include "common/base/memory.h"
#include "common/numbers/random.h"

enum { ROW_ENTRIES_MAX = 6, STRIDE_GAP = 3 };

static void *must_alloc(size_t count, size_t size)
{
    void *p = memory_alloc(count, size);
    must(p);
    return p;
}

static uint32_t draw(uint64_t seed, uint64_t item, uint32_t number, uint32_t bound)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_GENERATOR, 0, 0, 0);
    return random_below(random_word(&stream, item, number), bound);
}

/* Makes rows in another order than nodes, with gaps between them, as feature_source may return
 * them. */
static void make_features(struct block_fixture *fixture, uint32_t dim, uint64_t seed)
{
    const size_t stride = dim + STRIDE_GAP;
    fixture->feature = must_alloc(fixture->node_count * stride, sizeof *fixture->feature);
    fixture->row_index = must_alloc(fixture->node_count, sizeof *fixture->row_index);
    for (size_t i = 0; i < fixture->node_count * stride; i++)
        fixture->feature[i] = (float)draw(seed, i, 40, 2001) / 1000.0F - 1;
    for (uint32_t i = 0; i < fixture->node_count; i++)
        fixture->row_index[i] = fixture->node_count - 1 - i;
    fixture->input = (struct input_rows){
        .base = fixture->feature, .stride = stride, .row_index = fixture->row_index};
}

static uint32_t make_row(struct block_fixture *fixture, uint32_t i, uint32_t source_count,
                         uint64_t seed)
{
    const uint32_t count = draw(seed, i, 0, ROW_ENTRIES_MAX + 1);
    uint32_t proper = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t j = draw(seed, i, 1 + 2 * k, source_count);
        const uint32_t neighbor = draw(seed, i, 2 + 2 * k, 8) ? j : i;
        fixture->neighbor[fixture->edge_count++] = neighbor;
        proper += neighbor != i;
    }
    fixture->row_start[i + 1] = fixture->edge_count;
    return proper;
}

static void link_blocks(struct block_fixture *fixture, int layer_count, const uint32_t *hop_end)
{
    for (int layer = 0; layer < layer_count; layer++)
        fixture->block[layer] =
            (struct message_block){.destination_count = hop_end[layer_count - 1 - layer],
                                   .source_count = hop_end[layer_count - layer],
                                   .row_start = fixture->row_start,
                                   .neighbor = fixture->neighbor,
                                   .degree = fixture->degree};
}

void block_fixture_make(struct block_fixture *fixture, int layer_count, const uint32_t *hop_end,
                        uint32_t dim, uint64_t seed)
{
    const uint32_t node_count = hop_end[layer_count], row_count = hop_end[layer_count - 1];
    *fixture = (struct block_fixture){.node_count = node_count};
    fixture->row_start = must_alloc((size_t)row_count + 1, sizeof *fixture->row_start);
    fixture->neighbor = must_alloc((size_t)row_count * ROW_ENTRIES_MAX, sizeof *fixture->neighbor);
    fixture->degree = must_alloc(node_count, sizeof *fixture->degree);
    for (uint32_t i = 0; i < node_count; i++)
        fixture->degree[i] = draw(seed, i, 20, 5);
    for (uint32_t i = 0, hop = 0; i < row_count; i++) {
        while (i >= hop_end[hop])
            hop++;
        fixture->degree[i] =
            make_row(fixture, i, hop_end[hop + 1], seed) + (i % 3 ? 0 : draw(seed, i, 21, 4));
    }
    make_features(fixture, dim, seed);
    link_blocks(fixture, layer_count, hop_end);
}

void block_fixture_whole(struct block_fixture *fixture, int layer_count, uint32_t node_count,
                         uint32_t dim, uint64_t seed)
{
    uint32_t hop_end[LAYER_COUNT_MAX + 1] = {0};
    for (int h = 0; h <= layer_count; h++)
        hop_end[h] = node_count;
    block_fixture_make(fixture, layer_count, hop_end, dim, seed);
    for (uint32_t i = 0; i < node_count; i++) {
        fixture->degree[i] = 0;
        for (uint32_t e = fixture->row_start[i]; e < fixture->row_start[i + 1]; e++)
            fixture->degree[i] += fixture->neighbor[e] != i;
    }
}

void block_fixture_neighborhood(struct block_fixture *fixture, const struct block_fixture *whole,
                                int layer_count, uint32_t seed_count)
{
    const uint32_t count = whole->node_count;
    uint32_t *node = must_alloc(count, sizeof *node), *local = must_alloc(count, sizeof *local);
    uint32_t hop_end[LAYER_COUNT_MAX + 1] = {seed_count}, found = seed_count;
    *fixture = (struct block_fixture){0};
    fixture->row_start = must_alloc((size_t)count + 1, sizeof *fixture->row_start);
    fixture->neighbor = must_alloc(whole->edge_count, sizeof *fixture->neighbor);
    fixture->degree = must_alloc(count, sizeof *fixture->degree);
    fixture->row_index = must_alloc(count, sizeof *fixture->row_index);
    for (uint32_t i = 0; i < seed_count; i++) { /* local holds number + 1; 0 is unknown */
        node[i] = i;
        local[i] = i + 1;
    }
    for (int hop = 0; hop < layer_count; hop++) {
        for (uint32_t i = hop ? hop_end[hop - 1] : 0; i < hop_end[hop]; i++) {
            for (uint32_t e = whole->row_start[node[i]]; e < whole->row_start[node[i] + 1]; e++) {
                const uint32_t j = whole->neighbor[e];
                if (!local[j]) {
                    node[found++] = j;
                    local[j] = found;
                }
                fixture->neighbor[fixture->edge_count++] = local[j] - 1;
            }
            fixture->row_start[i + 1] = fixture->edge_count;
        }
        hop_end[hop + 1] = found;
    }
    fixture->node_count = found;
    for (uint32_t i = 0; i < found; i++) {
        fixture->degree[i] = whole->degree[node[i]];
        fixture->row_index[i] = whole->row_index[node[i]];
    }
    fixture->input = (struct input_rows){
        .base = whole->feature, .stride = whole->input.stride, .row_index = fixture->row_index};
    link_blocks(fixture, layer_count, hop_end);
    memory_free(node);
    memory_free(local);
}

void block_fixture_value_edges(struct block_fixture *fixture, int layer_count, uint64_t seed)
{
    fixture->edge_value = must_alloc(fixture->edge_count, sizeof *fixture->edge_value);
    fixture->value_sum = must_alloc(fixture->node_count, sizeof *fixture->value_sum);
    for (uint32_t e = 0; e < fixture->edge_count; e++)
        fixture->edge_value[e] = 0.5F + (float)draw(seed, e, 50, 1001) / 1000;
    for (uint32_t i = 0; i < fixture->node_count; i++)
        fixture->value_sum[i] = 0.7F + (float)fixture->degree[i] * 1.1F;
    for (int layer = 0; layer < layer_count; layer++) {
        fixture->block[layer].edge_value = fixture->edge_value;
        fixture->block[layer].value_sum = fixture->value_sum;
    }
}

void block_fixture_describe_edges(struct block_fixture *fixture, int layer_count, uint32_t dim,
                                  uint64_t seed)
{
    const size_t count = (size_t)fixture->edge_count * dim;
    fixture->edge_feature = must_alloc(count, sizeof *fixture->edge_feature);
    for (size_t i = 0; i < count; i++)
        fixture->edge_feature[i] = (float)draw(seed, i, 60, 2001) / 1000 - 1;
    for (int layer = 0; layer < layer_count; layer++) {
        fixture->block[layer].edge_feature = fixture->edge_feature;
        fixture->block[layer].edge_feature_dim = dim;
    }
}

void block_fixture_round(struct block_fixture *fixture, uint32_t dim)
{
    const size_t stride = bf16_stride(dim);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < fixture->node_count; i++)
        rows = fixture->row_index[i] >= rows ? fixture->row_index[i] + 1 : rows;
    fixture->rounded = memory_alloc(rows * stride, sizeof *fixture->rounded);
    must(fixture->rounded);
    for (uint32_t row = 0; row < rows; row++)
        bf16_of_floats(fixture->rounded + row * stride,
                       fixture->feature + row * fixture->input.stride, dim);
    fixture->input = (struct input_rows){.base = fixture->rounded,
                                         .stride = stride,
                                         .row_index = fixture->row_index,
                                         .precision = PRECISION_BF16};
}

void block_fixture_release(struct block_fixture *fixture)
{
    memory_free(fixture->row_start);
    memory_free(fixture->neighbor);
    memory_free(fixture->degree);
    memory_free(fixture->row_index);
    memory_free(fixture->feature);
    memory_free(fixture->edge_value);
    memory_free(fixture->edge_feature);
    memory_free(fixture->value_sum);
    memory_free(fixture->rounded);
    *fixture = (struct block_fixture){0};
}
