/* Every row is in one shard, whatever the policy. Also which node types have rows, and which
 * settings are refused. */
#include "stages/plan/model/embedding_shards.h"

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
        const struct embedding_tensors tensors = embedding_tensors_plain(&s, PARTS);
        int seen[40] = {0};
        assert_int_equal(tensors.shard_count, cases[i].count);
        for (int32_t shard = 0; shard < cases[i].count; shard++) {
            const struct embedding_shard nodes = embedding_shard_of(&tensors, &book, shard);
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
    const struct embedding_tensors tensors = embedding_tensors_plain(&s, PARTS);
    (void)state;
    for (int32_t part = 0; part < PARTS; part++) {
        const struct embedding_shard nodes = embedding_shard_of(&tensors, &book, part);
        assert_true(nodes.first == parts[part] && nodes.end == parts[part + 1]);
    }
}

static void without_an_embedding_there_are_none(void **state)
{
    struct pipeline_settings s;
    (void)state;
    pipeline_settings_defaults(&s);
    assert_int_equal(embedding_tensors_plain(&s, PARTS).shard_count, 0);
}

/* --- node types --- */

enum { TYPES = 3 };

static const char type_names[TYPES][RELATION_NAME_SIZE] = {"paper", "author", "a:b"};
static const uint32_t dims[TYPES] = {16, 0, 0};
/* Nodes in the four parts: paper 4, 0, 1 and 9; author 6, 0, 0 and 10; a:b 0, 0, 0 and 10. */
static const uint32_t type_starts[PARTS * (TYPES + 1)] = {0,  4,  10, 10, 10, 10, 10, 10,
                                                          10, 11, 11, 11, 11, 20, 30, 40};

static struct embedding_tensors typed(const char *widths, const char *policies,
                                      enum error_code expected, const char *message)
{
    struct pipeline_settings s = settings_of("nodes", "8");
    struct embedding_tensors out = {0};
    struct error err = {0};
    assert_ok(pipeline_settings_assign(&s, "ingest.relations", "true", "test", &err), &err);
    assert_ok(pipeline_settings_assign(&s, "train-step.type_embedding", widths, "test", &err),
              &err);
    assert_ok(
        pipeline_settings_assign(&s, "aggregate.type_embedding_policy", policies, "test", &err),
        &err);
    enum error_code rc = embedding_tensors_check(&s, &err);
    if (rc == ERROR_NONE)
        rc = embedding_tensors_of_types(&s, type_names, dims, TYPES, PARTS, &out, &err);
    if (expected == ERROR_NONE)
        assert_ok(rc, &err);
    else
        assert_failed(rc, expected, message, &err);
    return out;
}

static void types_without_features_have_rows_and_others_that_are_named(void **state)
{
    (void)state;
    struct embedding_tensors t = typed("", "", ERROR_NONE, NULL);
    assert_true(t.count == 2 && t.tensor[0].type == 1 && t.tensor[1].type == 2);
    assert_true(t.tensor[0].width == 8 && t.tensor[1].width == 8 && t.shard_count == 2 * PARTS);
    t = typed("a:b: 3; paper:5; author : 0", "", ERROR_NONE, NULL);
    assert_true(t.count == 2 && t.tensor[0].type == 0 && t.tensor[1].type == 2);
    assert_true(t.tensor[0].width == 5 && t.tensor[1].width == 3);
    assert_null(embedding_tensor_of(&t, 1));
}

static void every_row_of_every_type_is_in_one_shard(void **state)
{
    static const uint32_t rows[TYPES] = {14, 16, 10};
    const struct partition_book book = {.part_count = PARTS,
                                        .node_count = 40,
                                        .book = parts,
                                        .type_count = TYPES,
                                        .relation = (const struct relation[]){{"r", 0, 0}},
                                        .relation_count = 1,
                                        .type_start = type_starts};
    const struct embedding_tensors t =
        typed("paper: 4", "author: hash 3; a:b: range 7; paper: nodes", ERROR_NONE, NULL);
    int seen[TYPES][40] = {{0}};
    (void)state;
    assert_int_equal(t.shard_count, PARTS + 3 + 7);
    for (int32_t shard = 0; shard < t.shard_count; shard++) {
        const struct embedding_shard of = embedding_shard_of(&t, &book, shard);
        const struct embedding_tensor *tensor = &t.tensor[of.tensor];
        assert_true(shard >= tensor->first_shard &&
                    shard < tensor->first_shard + tensor->shard_count);
        for (uint32_t v = 0; v < 40; v++)
            seen[tensor->type][v] += embedding_shard_has(&of, v);
    }
    for (uint32_t type = 0; type < TYPES; type++)
        for (uint32_t v = 0; v < 40; v++)
            assert_int_equal(seen[type][v], v < rows[type]);
    const struct embedding_shard last_of_papers = embedding_shard_of(&t, &book, PARTS - 1);
    assert_true(last_of_papers.first == 5 && last_of_papers.end == 14);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *widths, *policies, *message;
    } bad[] = {
        {"author", "", "found 'author'"},
        {"author: x", "", "columns from 0 to 65536, found 'author: x'"},
        {"author: 65537", "", "found 'author: 65537'"},
        {"author: -1", "", "found 'author: -1'"},
        {"autor: 8", "", "expected a node type of the graph, such as paper, found 'autor'"},
        {"", "author: hash", "found 'author: hash'"},
        {"", "author: hash 0", "found 'author: hash 0'"},
        {"", "author: nodes 4", "found 'author: nodes 4'"},
        {"", "author: hash 4 5", "found 'author: hash 4 5'"},
        {"", "author: parts", "expected entries `type: nodes`"},
        {"", "venue: whole", "expected a node type of the graph, such as paper, found 'venue'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        (void)typed(bad[i].widths, bad[i].policies, ERROR_INVALID, bad[i].message);
    struct pipeline_settings s = settings_of("nodes", "8");
    struct error err = {0};
    assert_ok(pipeline_settings_assign(&s, "train-step.type_embedding", "a: 1", "test", &err),
              &err);
    assert_fails(embedding_tensors_check(&s, &err), ERROR_INVALID,
                 "train-step.type_embedding is 'a: 1', but ingest.relations is false", &err);
}

static enum error_code rates(const char *text, struct embedding_tensors *out, struct error *err)
{
    struct pipeline_settings s = settings_of("nodes", "8");
    assert_ok(pipeline_settings_assign(&s, "ingest.relations", "true", "test", err), err);
    assert_ok(pipeline_settings_assign(&s, "aggregate.embedding_rate", "0.5", "test", err), err);
    assert_ok(pipeline_settings_assign(&s, "aggregate.type_embedding_rate", text, "test", err),
              err);
    const enum error_code rc = embedding_tensors_check(&s, err);
    return rc == ERROR_NONE
               ? embedding_tensors_of_types(&s, type_names, dims, TYPES, PARTS, out, err)
               : rc;
}

static void types_have_learning_rates_of_their_own(void **state)
{
    static const char *const bad[] = {"a:b: -1", "a:b: fast", "a:b: 1001", "0.1", "journal: 0.1"};
    struct embedding_tensors t = {0};
    struct error err = {0};
    (void)state;
    assert_ok(rates("a:b: 0.125; paper: 2", &t, &err), &err);
    assert_true(t.count == 2 && t.tensor[0].rate == 0.5 && t.tensor[1].rate == 0.125);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(rates(bad[i], &t, &err), ERROR_INVALID, "aggregate.type_embedding_rate", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_is_in_one_shard),
        cmocka_unit_test(rows_lie_with_the_nodes_of_their_part),
        cmocka_unit_test(without_an_embedding_there_are_none),
        cmocka_unit_test(types_have_learning_rates_of_their_own),
        cmocka_unit_test(types_without_features_have_rows_and_others_that_are_named),
        cmocka_unit_test(every_row_of_every_type_is_in_one_shard),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
