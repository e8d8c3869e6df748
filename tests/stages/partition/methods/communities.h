/* communities - a graph of groups of nodes, dense inside and sparse between them, and a request to
 * partition it. */
#ifndef TESTS_STAGES_PARTITION_METHODS_COMMUNITIES_H
#define TESTS_STAGES_PARTITION_METHODS_COMMUNITIES_H

#include "common/numbers/random.h"
#include "stages/partition/rules/partitioner.h"
#include "store/records/dataset/node_splits.h"

#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum {
    GROUPS = 8,
    GROUP_NODES = 250,
    COMMUNITY_NODES = GROUPS * GROUP_NODES,
    EDGES_A_NODE = 8,
    COMMUNITY_EDGES = COMMUNITY_NODES * EDGES_A_NODE
};

struct communities {
    uint32_t source[2 * COMMUNITY_EDGES], target[2 * COMMUNITY_EDGES];
    uint32_t in_degree[COMMUNITY_NODES];
    uint8_t split_marks[COMMUNITY_NODES];
    uint64_t edge_count;
    struct dataset_schema schema;
    struct pipeline_settings settings;
};

/* Makes the graph. Node v is in group v % GROUPS, so that ranges of nodes do not find the groups; 3
 * in 4 edges stay inside. Every fifth node is for training. `undirected`: each edge is there in
 * both directions. */
static inline void communities_make(struct communities *c, struct store *store, bool undirected,
                                    int64_t parts)
{
    const struct random_stream stream = random_stream_of(7, RANDOM_GENERATOR, 0, 0, 0);
    struct error err = {0};
    memset(c, 0, sizeof *c);
    for (uint32_t e = 0; e < COMMUNITY_EDGES; e++) {
        uint32_t word[4];
        random_block(&stream, e, 0, word);
        const uint32_t from = e / EDGES_A_NODE;
        uint32_t to = random_below(word[0], COMMUNITY_NODES);
        if (word[1] % 4 != 0)
            to = random_below(word[0], GROUP_NODES) * GROUPS + from % GROUPS;
        c->source[c->edge_count] = from;
        c->target[c->edge_count++] = to;
        if (undirected) {
            c->source[c->edge_count] = to;
            c->target[c->edge_count++] = from;
        }
    }
    for (uint64_t e = 0; e < c->edge_count; e++)
        c->in_degree[c->target[e]]++;
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++)
        c->split_marks[v] = v % 5 == 0 ? SPLIT_TRAIN + 1 : 0;
    const struct small_dataset dataset = {.id = undirected ? "both-1" : "one-1",
                                          .name = "communities",
                                          .node_count = COMMUNITY_NODES,
                                          .edge_count = c->edge_count,
                                          .source = c->source,
                                          .target = c->target,
                                          .undirected = undirected,
                                          .nodes_per_chunk = 600};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, dataset.id, &c->schema, &err), &err);
    pipeline_settings_defaults(&c->settings);
    c->settings.partition.parts = parts;
}

static inline struct partition_request communities_request(const struct communities *c,
                                                           struct store *store)
{
    return (struct partition_request){.store = store,
                                      .settings = &c->settings,
                                      .schema = &c->schema,
                                      .in_degree = c->in_degree,
                                      .split_marks = c->split_marks,
                                      .budget_bytes = 1 << 28};
}

static inline double communities_cut(const struct communities *c, const uint32_t *part)
{
    uint64_t cut = 0;
    for (uint64_t e = 0; e < c->edge_count; e++)
        cut += part[c->source[e]] != part[c->target[e]];
    return (double)cut / (double)c->edge_count;
}

/* Returns the largest number of nodes of a part divided by the smallest; or of training nodes. */
static inline double communities_balance(const struct communities *c, const uint32_t *part,
                                         bool of_train)
{
    uint32_t count[64] = {0}, least = UINT32_MAX, most = 0;
    const uint32_t parts = (uint32_t)c->settings.partition.parts;
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++)
        count[part[v]] += !of_train || c->split_marks[v] == SPLIT_TRAIN + 1;
    for (uint32_t p = 0; p < parts; p++) {
        least = count[p] < least ? count[p] : least;
        most = count[p] > most ? count[p] : most;
    }
    return (double)most / least;
}

#endif
