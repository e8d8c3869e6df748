/*
 * mini_batch_fixture - a small mini-batch and its stored values, and random batches of any size.
 */
#ifndef TESTS_STORE_RECORDS_BATCH_MINI_BATCH_FIXTURE_H
#define TESTS_STORE_RECORDS_BATCH_MINI_BATCH_FIXTURE_H

#include "common/base/memory.h"
#include "common/numbers/packed_integers.h"
#include "common/numbers/random.h"
#include "store/records/batch/mini_batch.h"

#include "tests/support/edge_values.h"
#include "tests/support/test.h"

/* Two seeds, two hops; written by hand. */
static const uint32_t hop_end[] = {2, 4, 6}, node[] = {10, 20, 30, 40, 50, 60};
static const uint32_t row_start[] = {0, 2, 3, 5, 6}, neighbor[] = {2, 3, 1, 4, 5, 0};
static const uint32_t degree[] = {7, 8, 9, 10, 11, 12};
static const float weight[] = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F};

static const struct mini_batch valid_batch = {.hop_count = 2,
                                              .seed_count = 2,
                                              .node_count = 6,
                                              .row_count = 4,
                                              .edge_count = 6,
                                              .hop_end = hop_end,
                                              .node = node,
                                              .row_start = row_start,
                                              .neighbor = neighbor};

/* The stored values before they are packed, so that a test can change each number. */
struct sample {
    uint32_t hop_end[3], width[4], node[6], row_length[4], rest[6], degree[6];
    uint32_t node_count, row_count, edge_count, rest_count;
    uint64_t is_new;
};

static const struct sample valid = {
    .hop_end = {2, 4, 6},
    .width = {6, 2, 1, 4},
    .node = {10, 20, 30, 40, 50, 60},
    .row_length = {2, 1, 2, 1},
    .rest = {1, 0},
    .degree = {7, 8, 9, 10, 11, 12},
    .node_count = 6,
    .row_count = 4,
    .edge_count = 6,
    .rest_count = 2,
    .is_new = 0x1b, /* edges 0, 1, 3 and 4 */
};

/* A record like those of record_decode(), with each section in a heap block of its exact length, so
 * that a sanitizer finds reads past its end. */
struct packed_view {
    struct record_view view;
    void *data[RECORD_SECTION_COUNT_MAX];
};

static inline void add(struct packed_view *v, const char *name, enum element_type type,
                       uint64_t count, const void *data)
{
    const size_t bytes = count * element_size(type);
    struct record_section *section = &v->view.section[v->view.section_count];
    void **copy = &v->data[v->view.section_count++];
    *copy = memory_alloc(bytes, 1);
    if (bytes)
        memcpy(*copy, data, bytes);
    *section = (struct record_section){.type = type, .count = count, .data = *copy};
    memcpy(section->name, name, strlen(name));
}

static inline void add_packed(struct packed_view *v, const char *name, const uint32_t *value,
                              uint32_t count, uint32_t width)
{
    uint64_t words[8] = {0};
    packed_integers_pack(value, count, width, words);
    add(v, name, ELEMENT_U64, packed_integers_words(count, width), words);
}

static inline struct packed_view empty_view(void)
{
    return (struct packed_view){
        .view = {.kind = RECORD_MINI_BATCH, .version = 3, .key = "run/r/mini_batch"}};
}

static inline struct packed_view view_of(const struct sample *s)
{
    struct packed_view v = empty_view();
    add(&v, "hop_end", ELEMENT_U32, 3, s->hop_end);
    add(&v, "width", ELEMENT_U32, 4, s->width);
    add_packed(&v, "node", s->node, s->node_count, s->width[0] % 33);
    add_packed(&v, "row_length", s->row_length, s->row_count, s->width[1] % 33);
    add(&v, "is_new", ELEMENT_U64, packed_integers_words(s->edge_count, 1), &s->is_new);
    add_packed(&v, "neighbor", s->rest, s->rest_count, s->width[2] % 33);
    add_packed(&v, "degree", s->degree, s->node_count, s->width[3] % 33);
    add(&v, "edge_widths", ELEMENT_U32, 1, (const uint32_t[]){1});
    add(&v, "weight", ELEMENT_F32, s->edge_count, weight);
    return v;
}

static inline void drop_view(struct packed_view *v)
{
    for (uint32_t i = 0; i < v->view.section_count; i++)
        memory_free(v->data[i]);
}

enum { HOPS_MAX = 3, NODES_MAX = 700, EDGES_MAX = 3000, GRAPH_NODES = 100000 };

struct random_batch {
    struct mini_batch batch;
    uint32_t hop_end[HOPS_MAX + 1], node[NODES_MAX], row_start[NODES_MAX + 1], neighbor[EDGES_MAX];
    uint32_t degree[NODES_MAX];
    float weight_sum[NODES_MAX];
    float weight[EDGES_MAX], feature[EDGES_MAX][3];
    int64_t time[EDGES_MAX];
    uint16_t edge_type[EDGES_MAX];
    int64_t edge_id[EDGES_MAX];
    uint32_t position[EDGES_MAX];
};

static inline uint32_t below(uint32_t number, uint32_t item, uint32_t bound)
{
    const struct random_stream stream = random_stream_of(number, RANDOM_GENERATOR, 0, 0, 0);
    return random_below(random_word(&stream, item, 0), bound);
}

/* Makes a random batch; some are in the order of discovery, others have sources and rows of any
 * kind. */
static inline void make_random(struct random_batch *r, uint32_t number)
{
    const bool in_order = number % 3 != 0;
    const int hop_count = (int)(number % (HOPS_MAX + 1));
    const struct random_stream stream = random_stream_of(number, RANDOM_GENERATOR, 1, 0, 0);
    uint32_t edge = 0, row = 0, item = 0;
    r->hop_end[0] = 1 + below(number, item++, 90);
    for (int hop = 0; hop < hop_count; hop++)
        r->hop_end[hop + 1] = r->hop_end[hop] + below(number, item++, 150);
    const uint32_t node_count = r->hop_end[hop_count];
    for (uint32_t i = 0; i < node_count; i++) {
        r->node[i] = (uint32_t)random_permute(&stream, i, GRAPH_NODES);
        r->degree[i] = below(number, item++, 1U << number % 31);
        r->weight_sum[i] = (float)item;
    }
    r->row_start[0] = 0;
    for (int hop = 0; hop < hop_count; hop++) {
        uint32_t known = r->hop_end[hop];
        for (; row < r->hop_end[hop]; row++) {
            for (uint32_t i = below(number, item++, number % 6 + 1); i > 0; i--, edge++) {
                const bool is_new =
                    in_order && known < r->hop_end[hop + 1] && below(number, item++, 3);
                const uint32_t bound = in_order ? known : r->hop_end[hop + 1];
                r->neighbor[edge] = is_new ? known++ : below(number, item++, bound);
                r->weight[edge] = (float)item;
                r->time[edge] = item;
                r->edge_type[edge] = (uint16_t)item;
                r->edge_id[edge] = -(int64_t)item;
                r->position[edge] = below(number, item, 1U << number % 32);
                for (int k = 0; k < 3; k++)
                    r->feature[edge][k] = (float)(item * 3 + (uint32_t)k);
            }
            r->row_start[row + 1] = edge;
        }
    }
    r->batch = (struct mini_batch){.hop_count = hop_count,
                                   .seed_count = r->hop_end[0],
                                   .node_count = node_count,
                                   .row_count = row,
                                   .edge_count = edge,
                                   .hop_end = r->hop_end,
                                   .node = r->node,
                                   .row_start = r->row_start,
                                   .neighbor = r->neighbor,
                                   .degree = number % 2 ? r->degree : NULL,
                                   .edge_position = number % 4 == 1 ? r->position : NULL,
                                   .weight_sum = number % 7 ? r->weight_sum : NULL,
                                   .columns = edge_values(number % 5 ? r->weight : NULL,
                                                          number % 11 ? r->time : NULL,
                                                          number % 3 ? r->edge_type : NULL)};
    if (number % 4) {
        r->batch.columns.width.of[EDGE_FEATURE] = 3;
        r->batch.columns.data[EDGE_FEATURE] = r->feature;
        r->batch.columns.width.of[EDGE_ID] = 1;
        r->batch.columns.data[EDGE_ID] = r->edge_id;
    }
}

static const uint32_t pair_source[] = {1, 0}, pair_target[] = {0, 1, 1, 1, 0, 0};
static const float pair_label[] = {0.5F, -3};
static const struct seed_pairs pairs = {.positive_count = 2,
                                        .negatives_each = 2,
                                        .source = pair_source,
                                        .target = pair_target,
                                        .label = pair_label};

#endif
