/*
 * living_graph - makes a graph that changes from version to version, as datasets and deltas, and
 * its partitions. For the tests of versions' partitions.
 */
#ifndef TESTS_STAGES_PARTITION_LIVING_GRAPH_H
#define TESTS_STAGES_PARTITION_LIVING_GRAPH_H

#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/partition/partition_delta.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/shard_seal.h"

#include "tests/stages/partition/compared_partitions.h"
#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/edge_difference.h"
#include "tests/support/edge_values.h"

enum {
    FIRST = 1400, /* nodes of the root */
    STEP = 12,    /* nodes that are added, and removed, in each version */
    VERSIONS = 4,
    NAMES = FIRST + VERSIONS * STEP,
    EDGES_MAX = 16 * NAMES,
    PARTS = 3,
    CLASSES = 5,
    FEATURES = 9,
    MEMORY = 1 << 30
};

/* A graph of nodes with names 0 .. NAMES - 1. Each version has some of them. */
struct world {
    int version;
    bool is_undirected;
    bool is_there[NAMES];
    uint32_t alias[NAMES]; /* features are made from it */
    uint32_t from[EDGES_MAX], to[EDGES_MAX];
    float weight[EDGES_MAX];
    uint64_t edge_count;
};

static struct world world, before_step; /* `before_step`: the world when the last version was
                                         * written */

static uint32_t draw(uint64_t what, uint32_t below)
{
    const struct random_stream stream = random_stream_of(11, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, (uint32_t)what, (uint32_t)(what >> 32), word);
    return random_below(word[0], below);
}

static inline void link_nodes(uint32_t a, uint32_t b)
{
    world.from[world.edge_count] = world.to[world.edge_count + 1] = a;
    world.to[world.edge_count] = world.from[world.edge_count + 1] = b;
    if (!world.is_undirected) /* two edges without a reverse */
        world.to[world.edge_count + 1] = (7 * a + 3 * b) % FIRST;
    world.weight[world.edge_count] = (float)world.edge_count * 0.5F;
    world.weight[world.edge_count + 1] = (float)world.edge_count * 0.5F + 1;
    world.edge_count += 2;
}

static inline void begin_world_of(bool undirected)
{
    world = (struct world){.is_undirected = undirected};
    for (uint32_t name = 0; name < NAMES; name++) {
        world.is_there[name] = name < FIRST;
        world.alias[name] = name;
    }
    for (uint32_t name = 0; name < FIRST; name++)
        for (uint32_t k = 0; k < 3; k++)
            link_nodes(name, (name + 1 + draw(name * 8ULL + k, 20)) % FIRST);
    before_step = world;
}

static inline void begin_world(void)
{
    begin_world_of(true);
}

/* Changes the world. `rate`: how many times the basic amount of change. */
static inline void change_world(uint32_t rate)
{
    const uint32_t v = (uint32_t)++world.version;
    const uint64_t seed = (uint64_t)v << 32;
    for (uint32_t i = 0; i < STEP; i++) {
        const uint32_t added = FIRST + (v - 1) * STEP + i;
        world.is_there[draw(seed + i, FIRST)] = false;
        world.is_there[added] = true;
    }
    for (uint32_t i = 0; i < STEP; i++) /* one of the new nodes has no edge */
        for (uint32_t k = 0; i && k < 3; k++)
            link_nodes(FIRST + (v - 1) * STEP + i, draw(seed + 100 + (uint64_t)i * 4 + k, FIRST));
    for (uint32_t i = 0; i < 20 * rate; i++)
        link_nodes(draw(seed + 1000 + i, FIRST), draw(seed + 5000 + i, FIRST));
    for (uint32_t i = 0; i < 15 * rate; i++)
        world.alias[draw(seed + 10000 + i, FIRST)] += 7 * CLASSES * 4; /* keeps label and split */
    for (uint32_t i = 0; i < 10 * rate; i++) {
        const uint64_t pair = draw(seed + 20000 + i, (uint32_t)(world.edge_count / 2 - 1));
        memmove(&world.from[2 * pair], &world.from[2 * pair + 2],
                (world.edge_count - 2 * pair - 2) * sizeof *world.from);
        memmove(&world.to[2 * pair], &world.to[2 * pair + 2],
                (world.edge_count - 2 * pair - 2) * sizeof *world.to);
        memmove(&world.weight[2 * pair], &world.weight[2 * pair + 2],
                (world.edge_count - 2 * pair - 2) * sizeof *world.weight);
        world.edge_count -= 2;
    }
}

static const char *id_of(int version)
{
    static const char *const id[] = {"living-0", "living-1", "living-2", "living-3", "living-4"};
    return id[version];
}

/* Numbers the existing nodes in the order of their names, which is the order of a version's
 * numbers. */
static uint32_t number_nodes(uint32_t number[NAMES], uint32_t alias[NAMES])
{
    uint32_t count = 0;
    for (uint32_t name = 0; name < NAMES; name++)
        if (world.is_there[name]) {
            alias[count] = world.alias[name];
            number[name] = count++;
        }
    return count;
}

static inline void write_version(struct store *store)
{
    static uint32_t number[NAMES], alias[NAMES], from[EDGES_MAX], to[EDGES_MAX];
    static float weight[EDGES_MAX];
    uint64_t edges = 0;
    const uint32_t nodes = number_nodes(number, alias);
    for (uint64_t e = 0; e < world.edge_count; e++) {
        if (!world.is_there[world.from[e]] || !world.is_there[world.to[e]])
            continue;
        from[edges] = number[world.from[e]];
        to[edges] = number[world.to[e]];
        weight[edges++] = world.weight[e];
    }
    const struct small_dataset dataset = {.id = id_of(world.version),
                                          .name = "living",
                                          .node_count = nodes,
                                          .edge_count = edges,
                                          .source = from,
                                          .target = to,
                                          .columns = edge_values(weight, NULL, NULL),
                                          .undirected = world.is_undirected,
                                          .feature_dim = FEATURES,
                                          .task = TASK_SINGLE_LABEL,
                                          .class_count = CLASSES,
                                          .nodes_per_chunk = 500,
                                          .named = alias};
    write_dataset(store, &dataset);
}

/* Numbers the nodes by the base, and new nodes after those; NAMES: the node does not exist. */
static inline void number_own(const struct world *before, uint32_t number[NAMES])
{
    uint32_t count = 0;
    for (uint32_t name = 0; name < NAMES; name++)
        number[name] = before->is_there[name] ? count++ : NAMES;
    for (uint32_t name = 0; name < NAMES; name++)
        if (world.is_there[name] && !before->is_there[name])
            number[name] = count++;
}

/* Lists the edges between existing nodes. */
static inline void list_edges(const struct world *of, const uint32_t number[NAMES],
                              struct plain_edges *out)
{
    for (uint64_t e = 0; e < of->edge_count; e++) {
        const uint32_t from = of->from[e], to = of->to[e];
        const bool is_second = of->is_undirected && number[from] > number[to];
        if (world.is_there[from] && world.is_there[to] && of->is_there[from] && of->is_there[to] &&
            !is_second)
            plain_edges_add(out, number[from], number[to], of->weight[e]);
    }
}

/* Writes a delta as an update does: edges, and the features of nodes whose kind has changed. */
static inline void write_delta(struct store *store, const struct world *before)
{
    static const int64_t new_id[STEP] = {0};
    static const uint8_t split[STEP] = {0};
    static const uint32_t label[STEP] = {0};
    static uint32_t gone[NAMES], number[NAMES], row_node[NAMES];
    static float row[NAMES * FEATURES];
    struct error err = {0};
    struct plain_edges old = {0}, now = {0};
    struct edge_difference difference;
    struct dataset_delta delta = {.root = "living-0",
                                  .depth = (uint64_t)world.version,
                                  .gone_node = gone,
                                  .added_nodes = STEP,
                                  .new_ids = {.node_count = STEP, .integer = new_id},
                                  .new_split = split,
                                  .new_label = label,
                                  .label_width = 1,
                                  .row_node = row_node,
                                  .row = row,
                                  .feature_dim = FEATURES};
    memcpy(delta.base, id_of(world.version - 1), sizeof "living-0");
    number_own(before, number);
    for (uint32_t name = 0; name < NAMES; name++) {
        if (before->is_there[name] && !world.is_there[name])
            gone[delta.gone_nodes++] = delta.base_nodes;
        delta.base_nodes += before->is_there[name];
        if (world.is_there[name] &&
            (!before->is_there[name] || world.alias[name] != before->alias[name]))
            row_node[delta.rows++] = number[name];
    }
    list_edges(before, number, &old);
    list_edges(&world, number, &now);
    edge_difference_make(&old, &now, &difference);
    edge_difference_fill(&difference, true, &delta);
    assert_ok(dataset_delta_put(store, id_of(world.version), &delta, &err), &err);
    edge_difference_release(&difference);
    memory_free(old.edge);
    memory_free(now.edge);
}

/* Changes splits between a version and the next step. */
static inline void step(struct store *store, uint32_t rate)
{
    change_world(rate);
    write_version(store);
    write_delta(store, &before_step);
    before_step = world;
}

static inline struct pipeline_settings settings_for(double compact, int64_t feature_type)
{
    struct pipeline_settings settings = settings_of("living", PARTITION_METIS, PARTS);
    settings.partition.compact = compact;
    settings.partition.feature_type = feature_type;
    settings.partition.drift = 1000;
    return settings;
}

static inline void partition(struct temp_store *t, const struct pipeline_settings *settings,
                             char id[ID_SIZE])
{
    assert_ok(run_partition(t->store, settings, MEMORY, false, &t->err), &t->err);
    assert_true(newest_partition(t->store, settings, id));
}

/* Expects the form of the parts. `base`: "" for parts written whole. */
static inline void expect_form(struct store *store, const char *id, const char *base)
{
    struct error err = {0};
    char found[ID_SIZE];
    struct topology_seal topology;
    struct shard_seal shard;
    assert_ok(partition_delta_base(store, id, found, &err), &err);
    assert_string_equal(found, base);
    for (int p = 0; p < PARTS; p++) {
        assert_ok(topology_seal_get(store, id, p, &topology, &err), &err);
        assert_ok(shard_seal_get(store, key_part(id, p, "shard_seal").text, id, &shard, &err),
                  &err);
        assert_int_equal(topology.is_delta, *base != '\0');
        assert_int_equal(shard.is_delta, *base != '\0');
        if (!*base)
            continue;
        assert_true(topology.held[0].rows > 0 && topology.held[0].rows < topology.node_count / 2);
        assert_true(shard.own.rows[0] > 0 && shard.own.rows[0] < topology.node_count / 2);
        assert_true(shard.own.rows[1] < shard.own.rows[0] && shard.own.gone > 0);
    }
}

#endif
