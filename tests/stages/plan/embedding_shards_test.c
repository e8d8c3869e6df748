/* Every node is in one shard, whatever the policy, and choices have the numbers of their words. */
#include "stages/plan/embedding_shards.h"

#include "tests/support/test.h"

enum { PARTS = 4 };

static const uint32_t parts[PARTS + 1] = {0, 10, 10, 11, 40};

static struct pipeline_settings settings_of(const char *policy, const char *shards)
{
    struct pipeline_settings s;
    struct error err = {0};
    pipeline_settings_defaults(&s);
    assert_ok(pipeline_settings_assign(&s, "train-step.embedding", "8", "test", &err), &err);
    assert_ok(pipeline_settings_assign(&s, "aggregate.embedding_policy", policy, "test", &err),
              &err);
    assert_ok(pipeline_settings_assign(&s, "aggregate.embedding_shards", shards, "test", &err),
              &err);
    return s;
}

static const struct {
    const char *policy, *shards;
    int32_t count;
} cases[] = {
    {"nodes", "8", PARTS}, {"range", "1", 1}, {"range", "7", 7},  {"range", "64", 64},
    {"hash", "1", 1},      {"hash", "7", 7},  {"hash", "64", 64}, {"whole", "8", 1},
};

static void every_node_is_in_one_shard(void **state)
{
    const struct partition_book book = {.part_count = PARTS, .node_count = 40, .book = parts};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pipeline_settings s = settings_of(cases[i].policy, cases[i].shards);
        int seen[40] = {0};
        assert_int_equal(embedding_shard_count(&s, PARTS), cases[i].count);
        for (int32_t shard = 0; shard < cases[i].count; shard++) {
            const struct embedding_shard nodes = embedding_shard_of(&s, &book, shard);
            must(nodes.end <= 40 && nodes.stride >= 1);
            for (uint32_t v = 0; v < 40; v++)
                seen[v] += embedding_shard_has(&nodes, v);
        }
        for (uint32_t v = 0; v < 40; v++)
            assert_int_equal(seen[v], 1);
    }
}

static void rows_lie_with_the_nodes_of_their_part(void **state)
{
    const struct partition_book book = {.part_count = PARTS, .node_count = 40, .book = parts};
    const struct pipeline_settings s = settings_of("nodes", "8");
    (void)state;
    for (int32_t part = 0; part < PARTS; part++) {
        const struct embedding_shard nodes = embedding_shard_of(&s, &book, part);
        assert_true(nodes.first == parts[part] && nodes.end == parts[part + 1]);
    }
}

static void without_an_embedding_there_are_none(void **state)
{
    struct pipeline_settings s;
    (void)state;
    pipeline_settings_defaults(&s);
    assert_int_equal(embedding_shard_count(&s, PARTS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_is_in_one_shard),
        cmocka_unit_test(rows_lie_with_the_nodes_of_their_part),
        cmocka_unit_test(without_an_embedding_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
