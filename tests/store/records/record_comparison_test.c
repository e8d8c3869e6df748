/* Seals, ids and weights beside what they are of. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/shard_seal.h"
#include "store/records/round/snapshot.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static const char run[] = "run-1", table[] = "convs.0.bias 2 1\n";
static const float value[2] = {1, 2};

static void shards_are_equal_in_every_field_or_not_at_all(void **state)
{
    (void)state;
    const struct shard_seal seal = {
        .tensor_count = 1,
        .tensor = {{.name = "features", .type = TENSOR_F16, .dim = 3, .row_count = 7}}};
    struct shard_seal other = seal;
    assert_true(shard_seal_equal(&seal, &other));
    other.tensor_count = 0;
    assert_false(shard_seal_equal(&seal, &other));
    other = seal, other.tensor[0].name[0] = 'F';
    assert_false(shard_seal_equal(&seal, &other));
    other = seal, other.tensor[0].dim = 4;
    assert_false(shard_seal_equal(&seal, &other));
    other = seal, other.tensor[0].row_count = 8;
    assert_false(shard_seal_equal(&seal, &other));
    other = seal, other.content[0].bytes[0] = 1;
    assert_false(shard_seal_equal(&seal, &other));
}

static void a_node_is_named_by_whatever_it_has(void **state)
{
    (void)state;
    static const int64_t integer[2] = {17, -4};
    static const uint64_t offset[3] = {0, 3, 63};
    static const char text[] = "bobaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const struct node_ids numbers = {.node_count = 2, .integer = integer},
                          texts = {.node_count = 2, .offset = offset, .text = text},
                          none = {.node_count = 2};
    char out[NODE_ID_TEXT_SIZE];
    assert_string_equal(node_ids_text(&numbers, 1, out), "-4");
    assert_string_equal(node_ids_text(&texts, 0, out), "'bob'");
    assert_string_equal(node_ids_text(&texts, 1, out),
                        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'");
    assert_string_equal(node_ids_text(&none, 1, out), "1");
}

static void a_topology_is_compared_with_its_seal(void **state)
{
    struct temp_store *p = *state;
    struct topology_seal seal = {.node_count = 4, .file_size = 4};
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    seal.file = checksum_of("text", 4);
    assert_fails(topology_seal_verify(p->store, "p", 0, &p->err), ERROR_NOT_FOUND, "topology_seal",
                 &p->err);
    assert_ok(topology_seal_put(p->store, "p", 0, &seal, &p->err), &p->err);
    assert_fails(topology_seal_verify(p->store, "p", 0, &p->err), ERROR_NOT_FOUND, "topology",
                 &p->err);
    assert_ok(store_scratch(p->store, scratch, &p->err), &p->err);
    assert_ok(file_path(path, &p->err, "%s/topology", scratch), &p->err);
    assert_ok(file_replace(path, "text", 4, false, &p->err), &p->err);
    assert_ok(store_publish(p->store, path, key_part("p", 0, "topology").text, NULL, &p->err),
              &p->err);
    assert_ok(topology_seal_verify(p->store, "p", 0, &p->err), &p->err);
    assert_ok(store_artifact(p->store, key_part("p", 0, "topology").text, path, &p->err), &p->err);
    assert_ok(file_replace(path, "texts", 5, false, &p->err), &p->err);
    assert_fails(topology_seal_verify(p->store, "p", 0, &p->err), ERROR_CORRUPT,
                 "of 4 bytes, found ", &p->err);
    assert_non_null(strstr(p->err.message, key_part("p", 0, "topology").text));
    assert_non_null(strstr(p->err.message, " of 5"));
}

static void weights_are_compared_with_the_snapshot_they_name(void **state)
{
    struct temp_store *p = *state;
    static const float best[2] = {7, 8};
    const float *found = NULL;
    struct snapshot snapshot = {.version = 5,
                                .previous_version = 3,
                                .best_version = 3,
                                .value_count = 2,
                                .value = value,
                                .first = value,
                                .best_value = best,
                                .table = table,
                                .table_size = sizeof table - 1};
    const struct weights_identity own = weights_identity_of(&snapshot, false, &found);
    assert_ptr_equal(found, value);
    const struct weights_identity of_best = weights_identity_of(&snapshot, true, &found);
    assert_ptr_equal(found, best);
    assert_int_equal(of_best.version, 3);
    assert_ok(weights_identity_verify(p->store, run, &own, "x", &p->err), &p->err); /* none there */
    assert_ok(snapshot_put(p->store, run, &snapshot, &p->err), &p->err);
    assert_ok(weights_identity_verify(p->store, run, &own, "x", &p->err), &p->err);
    assert_ok(weights_identity_verify(p->store, run, &of_best, "x", &p->err), &p->err);
    struct weights_identity other = own;
    other.sum = of_best.sum;
    assert_fails(weights_identity_verify(p->store, run, &other, "the layer", &p->err),
                 ERROR_CORRUPT, "the layer: expected weights 5", &p->err);
    const struct tamper damage = {.section = "value"};
    record_tamper(p->store, key_snapshot(run, 5).text, run, &damage);
    assert_ok(weights_identity_verify(p->store, run, &other, "x", &p->err), &p->err);
    memory_fail_after(0);
    const enum error_code rc = weights_identity_verify(p->store, run, &own, "x", &p->err);
    memory_fail_after(-1);
    assert_failed(rc, ERROR_NO_MEMORY, "no memory", &p->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_equal_in_every_field_or_not_at_all),
        cmocka_unit_test(a_node_is_named_by_whatever_it_has),
        test_with_store(a_topology_is_compared_with_its_seal),
        test_with_store(weights_are_compared_with_the_snapshot_they_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
