#include "store/objects/keys.h"

#include "tests/support/test.h"

static void every_key_is_the_one_of_the_table(void **state)
{
    (void)state;
    assert_string_equal(key_dataset("cora", "schema").text, "dataset/cora/schema");
    assert_string_equal(key_edge_chunk("cora", 3).text, "dataset/cora/edges/0000000003");
    assert_string_equal(key_feature_chunk("cora", 3).text, "dataset/cora/features/0000000003");
    assert_string_equal(key_partition("p", "book").text, "partition/p/book");
    assert_string_equal(key_part("p", 12, "topology").text, "partition/p/part/0000000012/topology");
    assert_string_equal(key_run("r", "plan").text, "run/r/plan");
    assert_string_equal(key_mini_batch("r", 17, 2).text,
                        "run/r/round/0000000017/slot/00002/mini_batch");
    assert_string_equal(key_gradient("r", 17, 2).text,
                        "run/r/round/0000000017/slot/00002/gradient");
    assert_string_equal(key_embedding_seal("r", 18, 2).text,
                        "run/r/embedding/0000000018/shard/0000000002");
    assert_string_equal(key_evaluation_mini_batch("r", 4).text,
                        "run/r/evaluation/00004/mini_batch");
    assert_string_equal(key_evaluation("r", 9, 4).text, "run/r/evaluation/00004/result/0000000009");
    assert_string_equal(key_weights("r", 9).text, "run/r/weights/0000000009");
    assert_string_equal(key_optimizer_state("r", 9).text, "run/r/optimizer/0000000009");
    assert_string_equal(key_snapshot("r", 9).text, "run/r/snapshot/0000000009");
    assert_string_equal(key_infer("r", 60, 1, 2, "shard").text,
                        "run/r/infer/0000000060/00001/part/0000000002/shard");
    assert_string_equal(key_outputs("r", 60, "").text, "run/r/outputs/0000000060");
    assert_string_equal(key_outputs("r", 60, "0a1b2c3d").text, "run/r/outputs/0000000060-0a1b2c3d");
    assert_string_equal(key_outputs_seal("r", 60, "0a1b2c3d").text,
                        "run/r/outputs/0000000060-0a1b2c3d_seal");
    assert_string_equal(key_current("run", "cora").text, "current/run/cora");
}

static void the_order_of_keys_is_the_order_of_numbers(void **state)
{
    (void)state;
    static const int64_t versions[] = {0, 1, 9, 10, 99, 100, 12345, 999999999, 9999999999};
    for (size_t i = 1; i < sizeof versions / sizeof *versions; i++)
        assert_true(
            strcmp(key_weights("r", versions[i - 1]).text, key_weights("r", versions[i]).text) < 0);
    assert_true(strcmp(key_gradient("r", 2, 10).text, key_gradient("r", 10, 2).text) < 0);
    assert_true(strcmp(key_gradient("r", 2, 2).text, key_gradient("r", 2, 10).text) < 0);
}

static void the_longest_id_and_numbers_fit(void **state)
{
    (void)state;
    char id[ID_SIZE];
    memset(id, 'i', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    assert_true(strlen(key_gradient(id, INT64_MAX, INT32_MAX).text) < KEY_SIZE);
    assert_true(strlen(key_infer(id, INT64_MAX, INT32_MAX, INT32_MAX, "shard_seal").text) <
                KEY_SIZE);
    assert_true(strlen(key_outputs_seal(id, INT64_MAX, "0a1b2c3d").text) < KEY_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_the_one_of_the_table),
        cmocka_unit_test(the_order_of_keys_is_the_order_of_numbers),
        cmocka_unit_test(the_longest_id_and_numbers_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
