/* Every section of a record is checked by its reader: left out, of another element type, in a record of another kind or
 * version, and with values that no writer writes. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/node_placement.h"
#include "store/records/partition/partition_book.h"
#include "store/records/partition/partition_delta.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/gradient.h"
#include "store/records/round/outputs_seal.h"
#include "store/records/round/parameters.h"
#include "store/records/round/run_plan.h"
#include "store/records/round/shard_seal.h"
#include "store/records/round/snapshot.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static const char run[] = "run-1", table[] = "convs.0.bias 2 1\n";
static const float value[2] = {1, 2};
static const struct weights_identity weights_of = {
    .version = 5, .snapshot_version = 5, .sum = {{1, 2, 3}}};

/* --- a record of each kind: how it is put and read --- */

static enum error_code put_topology_seal(struct store *store, struct error *err)
{
    const struct topology_seal seal = {.first_node = 3,
                                       .node_count = 4,
                                       .edge_count = 9,
                                       .width = {{[EDGE_WEIGHT] = 1, [EDGE_FEATURE] = 8}}};
    return topology_seal_put(store, "p", 0, &seal, err);
}

static enum error_code put_held_seal(struct store *store, struct error *err)
{
    const struct topology_seal seal = {.first_node = 3,
                                       .node_count = 4,
                                       .edge_count = 9,
                                       .width = {{[EDGE_WEIGHT] = 1}},
                                       .is_held = true,
                                       .held = {{.rows = 6, .edges = 7}}};
    return topology_seal_put(store, "p", 0, &seal, err);
}

static enum error_code put_typed_held_seal(struct store *store, struct error *err)
{
    static const struct topology_seal seal = {
        .first_node = 3,
        .node_count = 4,
        .edge_count = 9,
        .width = {{[EDGE_WEIGHT] = 1}},
        .is_held = true,
        .relation_count = 2,
        .relation = {{3, 4, 7}, {5, 2, 2}},
        .held = {{.rows = 5, .edges = 8}, {.rows = 1, .edges = 3}}};
    return topology_seal_put(store, "p", 0, &seal, err);
}

static enum error_code put_typed_delta_seal(struct store *store, struct error *err)
{
    static const struct topology_seal seal = {.first_node = 3,
                                              .node_count = 4,
                                              .edge_count = 9,
                                              .width = {{[EDGE_WEIGHT] = 1}},
                                              .is_delta = true,
                                              .base = "p-0",
                                              .relation_count = 2,
                                              .relation = {{3, 4, 7}, {5, 2, 2}},
                                              .held = {{.rows = 2, .edges = 7}, {.rows = 1}}};
    return topology_seal_put(store, "p", 0, &seal, err);
}

static enum error_code put_delta_seal(struct store *store, struct error *err)
{
    const struct topology_seal seal = {.first_node = 3,
                                       .node_count = 4,
                                       .edge_count = 9,
                                       .width = {{[EDGE_WEIGHT] = 1}},
                                       .is_delta = true,
                                       .base = "p-0",
                                       .held = {{.rows = 2, .edges = 7}}};
    return topology_seal_put(store, "p", 0, &seal, err);
}

static enum error_code get_topology_seal(struct store *store, struct error *err)
{
    struct topology_seal seal;
    return topology_seal_get(store, "p", 0, &seal, err);
}

static enum error_code put_shard_seal(struct store *store, struct error *err)
{
    const struct shard_seal seal = {
        .tensor_count = 2,
        .tensor = {{.name = "features", .type = TENSOR_F16, .dim = 3, .row_count = 7},
                   {.name = "labels", .type = TENSOR_I32, .dim = 1, .row_count = 7}},
        .has_weights = true,
        .weights = weights_of};
    return shard_seal_put(store, "partition/p/shard_seal", "p", &seal, err);
}

static enum error_code put_delta_shard_seal(struct store *store, struct error *err)
{
    const struct shard_seal seal = {
        .tensor_count = 2,
        .tensor = {{.name = "features", .type = TENSOR_F16, .dim = 3, .row_count = 7},
                   {.name = "labels", .type = TENSOR_I32, .dim = 1, .row_count = 7}},
        .is_delta = true,
        .own = {.base = "partition/p-0/shard", .rows = {3, 2}, .gone = 4}};
    return shard_seal_put(store, "partition/p/shard_seal", "p", &seal, err);
}

static enum error_code put_partition_delta(struct store *store, struct error *err)
{
    static const uint32_t book[3] = {0, 4, 9}, gone[2] = {1, 8}, added[2] = {0, 3};
    const struct partition_delta delta = {.base = "p-0",
                                          .part_count = 2,
                                          .base_book = book,
                                          .gone_count = 2,
                                          .gone = gone,
                                          .added = added};
    return partition_delta_put(store, "p", &delta, err);
}

static enum error_code put_typed_delta(struct store *store, struct error *err)
{
    static const uint32_t book[3] = {0, 4, 9}, start[6] = {0, 1, 4, 4, 9, 9};
    static const uint32_t gone[2] = {1, 8}, added[4] = {0, 3, 1, 0};
    const struct partition_delta delta = {.base = "p-0",
                                          .part_count = 2,
                                          .type_count = 2,
                                          .base_book = book,
                                          .type_start = start,
                                          .gone_count = 2,
                                          .gone = gone,
                                          .added = added};
    return partition_delta_put(store, "p", &delta, err);
}

static enum error_code get_partition_delta(struct store *store, struct error *err)
{
    struct partition_delta delta;
    const enum error_code rc = partition_delta_get(store, "p", &delta, err);
    store_release_record(&delta.view);
    return rc;
}

static enum error_code put_placement(struct store *store, struct error *err)
{
    static const uint32_t new_node[3] = {7, 9, 8}, split_node[2] = {1, 6};
    static const uint8_t split[2] = {0, 3};
    const struct node_placement placement = {.base = "p-0",
                                             .method = "placed",
                                             .full_cut = 0.25,
                                             .new_count = 3,
                                             .split_count = 2,
                                             .new_node = new_node,
                                             .split_node = split_node,
                                             .split = split};
    return node_placement_put(store, "p", &placement, err);
}

static enum error_code get_placement(struct store *store, struct error *err)
{
    struct node_placement placement;
    const enum error_code rc = node_placement_get(store, "p", &placement, err);
    store_release_record(&placement.view);
    return rc;
}

static enum error_code put_dataset_merge(struct store *store, struct error *err)
{
    static const uint32_t first[3] = {0, 4, 9}, base_first[2] = {0, 8};
    const struct dataset_merge merge = {.base = "d-0",
                                        .removes_repeated = true,
                                        .chunk_count = 2,
                                        .base_chunk_count = 1,
                                        .first_node = first,
                                        .base_first = base_first};
    return dataset_merge_put(store, "d", &merge, err);
}

static enum error_code get_dataset_merge(struct store *store, struct error *err)
{
    struct dataset_merge merge;
    const enum error_code rc = dataset_merge_get(store, "d", &merge, err);
    store_release_record(&merge.view);
    return rc;
}

static enum error_code get_shard_seal(struct store *store, struct error *err)
{
    static struct shard_seal seal;
    return shard_seal_get(store, "partition/p/shard_seal", "p", &seal, err);
}

static enum error_code put_outputs_seal(struct store *store, struct error *err)
{
    static struct outputs_seal seal = {.files = "a 1 2\n", .metrics = "{}\n"};
    seal.weights = weights_of;
    return outputs_seal_put(store, "run/run-1/outputs/seal", run, &seal, err);
}

static enum error_code get_outputs_seal(struct store *store, struct error *err)
{
    static struct outputs_seal seal;
    return outputs_seal_get(store, "run/run-1/outputs/seal", run, &seal, err);
}

static enum error_code put_integer_ids(struct store *store, struct error *err)
{
    static const int64_t integer[3] = {17, -4, 5};
    const struct node_ids ids = {.node_count = 3, .integer = integer};
    return node_ids_put(store, "d", &ids, err);
}

static enum error_code put_text_ids(struct store *store, struct error *err)
{
    static const uint64_t offset[3] = {0, 3, 5};
    const struct node_ids ids = {.node_count = 2, .offset = offset, .text = "bobal"};
    return node_ids_put(store, "d", &ids, err);
}

static enum error_code get_ids(struct store *store, struct error *err)
{
    struct node_ids ids;
    const enum error_code rc = node_ids_get(store, "d", &ids, err);
    store_release_record(&ids.view);
    return rc;
}

static enum error_code put_label(struct store *store, struct error *err)
{
    static const int32_t label[3] = {0, -1, 2};
    const struct node_labels labels = {
        .node_count = 3, .task = TASK_SINGLE_LABEL, .class_count = 3, .row = label};
    return node_labels_put(store, "d", &labels, err);
}

static enum error_code put_multi(struct store *store, struct error *err)
{
    static const float multi[4] = {0, 1, 1, 1};
    const struct node_labels labels = {
        .node_count = 2, .task = TASK_MULTI_LABEL, .class_count = 2, .row = multi};
    return node_labels_put(store, "d", &labels, err);
}

static enum error_code get_labels(struct store *store, struct error *err)
{
    struct node_labels labels;
    const enum error_code rc = node_labels_get(store, "d", &labels, err);
    store_release_record(&labels.view);
    return rc;
}

static enum error_code put_book(struct store *store, struct error *err)
{
    static const uint32_t bounds[3] = {0, 4, 9};
    const struct partition_book book = {.id = "p",
                                        .dataset_id = "d",
                                        .part_count = 2,
                                        .node_count = 9,
                                        .edge_count = 12,
                                        .task = TASK_SINGLE_LABEL,
                                        .book = bounds};
    return partition_book_put(store, &book, err);
}

static enum error_code get_book(struct store *store, struct error *err)
{
    struct partition_book book;
    const enum error_code rc = partition_book_get(store, "p", &book, err);
    store_release_record(&book.view);
    return rc;
}

static enum error_code put_assignment(struct store *store, struct error *err)
{
    static const uint32_t part[3] = {0, 1, 0};
    return assignment_put(store, "p", part, 3, NULL, err);
}

static enum error_code get_assignment(struct store *store, struct error *err)
{
    const uint32_t *part = NULL;
    uint32_t count = 0;
    struct record_view view;
    const enum error_code rc = assignment_get(store, "p", &part, &count, &view, err);
    store_release_record(&view);
    return rc;
}

static enum error_code put_plan(struct store *store, struct error *err)
{
    static const struct run_plan plan = {.id = "run-1",
                                         .partition_id = "p",
                                         .origin = "run-0",
                                         .first_version = 4,
                                         .environment = "here",
                                         .settings = "{}"};
    return run_plan_put(store, &plan, err);
}

static enum error_code get_plan(struct store *store, struct error *err)
{
    static struct run_plan plan;
    return run_plan_get(store, run, &plan, err);
}

static enum error_code put_features(struct store *store, struct error *err)
{
    const struct feature_chunk rows = {.first_node = 0, .node_count = 1, .dim = 2, .row = value};
    return feature_chunk_put(store, "d", 0, &rows, err);
}

static enum error_code get_features(struct store *store, struct error *err)
{
    struct feature_chunk rows;
    const enum error_code rc = feature_chunk_get(store, "d", 0, &rows, err);
    store_release_record(&rows.view);
    return rc;
}

static enum error_code put_weights(struct store *store, struct error *err)
{
    const struct weights weights = {.version = 5,
                                    .value_count = 2,
                                    .value = value,
                                    .table = table,
                                    .table_size = sizeof table - 1};
    return weights_put(store, run, &weights, err);
}

static enum error_code get_weights(struct store *store, struct error *err)
{
    struct weights weights;
    const enum error_code rc = weights_get(store, run, 5, &weights, err);
    store_release_record(&weights.view);
    return rc;
}

static const double rounds[PROGRESS_COUNT] = {0.5, 1, 2};

static enum error_code put_state(struct store *store, struct error *err)
{
    const struct optimizer_state state = {.version = 5,
                                          .step = 5,
                                          .value_count = 2,
                                          .first = value,
                                          .second = value,
                                          .rounds = rounds,
                                          .round_count = 1};
    return optimizer_state_put(store, run, &state, err);
}

static enum error_code get_state(struct store *store, struct error *err)
{
    struct optimizer_state state;
    const enum error_code rc = optimizer_state_get(store, run, 5, &state, err);
    store_release_record(&state.view);
    return rc;
}

static enum error_code put_gradient(struct store *store, struct error *err)
{
    const struct gradient gradient = {.weights_version = 5,
                                      .value_count = 2,
                                      .value = value,
                                      .seed_count = 4,
                                      .correct_count = 3,
                                      .loss_sum = 0.5};
    return gradient_put(store, run, 5, 0, &gradient, NULL, err);
}

static enum error_code get_gradient(struct store *store, struct error *err)
{
    struct gradient gradient;
    const enum error_code rc = gradient_get(store, run, 5, 0, &gradient, err);
    gradient_release(&gradient);
    return rc;
}

static enum error_code put_evaluation(struct store *store, struct error *err)
{
    static const double tally[6] = {1, 2, 0, 1, 0, 1};
    static const uint8_t truth[2] = {0, 1};
    const struct evaluation evaluation = {.version = 5,
                                          .seed_count = 4,
                                          .correct_count = 3,
                                          .loss_sum = 0.5,
                                          .tally_size = 6,
                                          .tally = tally,
                                          .score_count = 2,
                                          .score = value,
                                          .truth = truth};
    return evaluation_put(store, run, 0, &evaluation, err);
}

static enum error_code get_evaluation(struct store *store, struct error *err)
{
    struct evaluation evaluation;
    const enum error_code rc = evaluation_get(store, run, 5, 0, &evaluation, err);
    store_release_record(&evaluation.view);
    return rc;
}

static enum error_code put_snapshot(struct store *store, struct error *err)
{
    const struct snapshot snapshot = {.version = 5,
                                      .previous_version = 3,
                                      .best_version = 3,
                                      .value_count = 2,
                                      .value = value,
                                      .first = value,
                                      .second = value,
                                      .best_value = value,
                                      .table = table,
                                      .table_size = sizeof table - 1,
                                      .rounds = rounds,
                                      .round_count = 1,
                                      .log = "{}\n",
                                      .log_size = 3};
    return snapshot_put(store, run, &snapshot, err);
}

static enum error_code get_snapshot(struct store *store, struct error *err)
{
    struct snapshot snapshot;
    const enum error_code rc = snapshot_get(store, run, 5, &snapshot, err);
    store_release_record(&snapshot.view);
    return rc;
}

static const struct kind {
    const char *owner;
    enum error_code (*put)(struct store *store, struct error *err);
    enum error_code (*get)(struct store *store, struct error *err);
    const char *optional; /* sections that may be left out */
} kinds[] = {
    {"p", put_topology_seal, get_topology_seal, "edge_widths"},
    {"p", put_shard_seal, get_shard_seal, "weights"},
    {run, put_outputs_seal, get_outputs_seal, ""},
    {"d", put_integer_ids, get_ids, ""},
    {"d", put_text_ids, get_ids, ""},
    {"d", put_label, get_labels, ""},
    {"d", put_multi, get_labels, ""},
    {"p", put_book, get_book, ""},
    {"p", put_assignment, get_assignment, ""},
    {run, put_plan, get_plan, ""},
    {"d", put_features, get_features, ""},
    {run, put_weights, get_weights, ""},
    {run, put_state, get_state, "second rounds"},
    {run, put_gradient, get_gradient, ""},
    {run, put_evaluation, get_evaluation, "score"},
    {run, put_snapshot, get_snapshot, "second rounds"},
    {"p", put_held_seal, get_topology_seal, "edge_widths"},
    {"p", put_delta_seal, get_topology_seal, "edge_widths"},
    {"p", put_delta_shard_seal, get_shard_seal, ""},
    {"p", put_partition_delta, get_partition_delta, ""},
    {"p", put_placement, get_placement, ""},
    {"d", put_dataset_merge, get_dataset_merge, ""},
    {"p", put_typed_delta, get_partition_delta, ""},
    {"p", put_typed_delta_seal, get_topology_seal, "edge_widths"},
    {"p", put_typed_held_seal, get_topology_seal, "edge_widths"},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* --- the walk --- */

struct found {
    char key[KEY_SIZE];
    int count;
};

static enum error_code note_key(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct found *found = context;
    (void)is_artifact;
    (void)err;
    found->count++;
    (void)snprintf(found->key, sizeof found->key, "%s", key);
    return ERROR_NONE;
}

/* Puts the one record that the store holds then; its key. */
static void put_alone(struct temp_store *p, const struct kind *kind, struct found *out)
{
    *out = (struct found){0};
    assert_ok(kind->put(p->store, &p->err), &p->err);
    assert_ok(store_list(p->store, "", note_key, out, &p->err), &p->err);
    assert_int_equal(out->count, 1);
    assert_ok(kind->get(p->store, &p->err), &p->err);
}

static void check_change(struct temp_store *p, const struct kind *kind, const char *key,
                         const struct tamper *change, bool may_succeed)
{
    struct error err = {0};
    const long blocks = memory_live_blocks();
    record_tamper(p->store, key, kind->owner, change);
    const enum error_code rc = kind->get(p->store, &err);
    assert_int_equal(memory_live_blocks(), blocks);
    if (rc != (may_succeed ? ERROR_NONE : ERROR_CORRUPT))
        fail_msg("%s: section %s: code %d: %s", key, change->section, (int)rc, err.message);
    if (!may_succeed && (!strstr(err.message, key) || !strstr(err.message, change->section)))
        fail_msg("%s: section %s: not named: %s", key, change->section, err.message);
    assert_ok(store_remove(p->store, key, &err), &err);
    assert_ok(kind->put(p->store, &err), &err);
}

static void each_section_of_each_record_is_demanded(void **state)
{
    struct temp_store *p = *state;
    static const uint64_t zeros[4];
    for (int k = 0; k < KIND_COUNT; k++) {
        const struct kind *kind = &kinds[k];
        struct found found;
        struct record_view view;
        put_alone(p, kind, &found);
        assert_ok(store_get(p->store, found.key, kind->owner, &view, &p->err), &p->err);
        for (uint32_t s = 0; s < view.section_count; s++) {
            struct tamper change = {.section = view.section[s].name};
            const bool optional = strstr(kind->optional, change.section) != NULL;
            if (k != 3) /* ids without "integer" are looked for as texts */
                check_change(p, kind, found.key, &change, optional);
            change.type = view.section[s].type == ELEMENT_F64 ? ELEMENT_U16 : ELEMENT_F64;
            change.data = zeros;
            change.count = 1;
            check_change(p, kind, found.key, &change, false);
        }
        store_release_record(&view);
        assert_ok(store_remove(p->store, found.key, &p->err), &p->err);
    }
}

static void another_kind_or_version_is_refused(void **state)
{
    struct temp_store *p = *state;
    for (int k = 0; k < KIND_COUNT; k++)
        for (int later = 0; later < 2; later++) {
            const struct kind *kind = &kinds[k];
            struct found found;
            struct record_view view;
            struct record copy = {.kind = RECORD_STORE_IDENTITY};
            put_alone(p, kind, &found);
            assert_ok(store_get(p->store, found.key, kind->owner, &view, &p->err), &p->err);
            copy.version = view.version + (later ? 1 : 0);
            copy.kind = later ? view.kind : copy.kind;
            for (uint32_t s = 0; s < view.section_count; s++)
                record_add(&copy, view.section[s].name, view.section[s].type, view.section[s].data,
                           view.section[s].count);
            assert_ok(store_remove(p->store, found.key, &p->err), &p->err);
            assert_ok(
                store_put(p->store, found.key, kind->owner, &copy, STORE_RECOMPUTABLE, &p->err),
                &p->err);
            store_release_record(&view);
            assert_fails(kind->get(p->store, &p->err), ERROR_CORRUPT, found.key, &p->err);
            assert_ok(store_remove(p->store, found.key, &p->err), &p->err);
            assert_int_equal(memory_live_blocks(), 2); /* the store's */
        }
}

/* --- values that no writer writes --- */

struct bad_value {
    int kind;
    struct tamper change;
};

static void refuse(struct temp_store *p, const struct bad_value *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct kind *kind = &kinds[bad[i].kind];
        struct found found;
        struct error err = {0};
        put_alone(p, kind, &found);
        record_tamper(p->store, found.key, kind->owner, &bad[i].change);
        const enum error_code rc = kind->get(p->store, &err);
        if (rc != ERROR_CORRUPT || !strstr(err.message, found.key))
            fail_msg("change %zu, section %s: code %d: %s", i, bad[i].change.section, (int)rc,
                     err.message);
        assert_ok(store_remove(p->store, found.key, &err), &err);
    }
}

static void values_that_no_writer_writes_are_refused(void **state)
{
    struct temp_store *p = *state;
    const uint64_t two_32 = 1ULL << 32;
    const uint64_t node_beyond[4] = {two_32, 1, 9, 0}, count_beyond[4] = {1, two_32 - 1, 9, 0},
                   facts_wide[8] = {12, 0, two_32}, task_nine[8] = {12, 0, 0, 0, 9},
                   no_nodes[2] = {0, 0}, many_nodes[2] = {two_32, 0}, many_classes[2] = {2, two_32},
                   more_rows[2] = {8, 7}, own_beyond[3] = {8, 2, 4},
                   rows_beyond[2] = {two_32, two_32}, none[1] = {0};
    static const uint32_t two_weights[1] = {2}, last_absent[2] = {1, 0},
                          too_wide[EDGE_COLUMN_COUNT] = {[EDGE_FEATURE] =
                                                             EDGE_COLUMN_WIDTH_MAX + 1},
                          too_many[EDGE_COLUMN_COUNT + 1] = {[EDGE_COLUMN_COUNT] = 1};
    static const uint32_t late_start[3] = {1, 4, 9}, falling[3] = {0, 5, 4},
                          gone_beyond[2] = {1, 9}, many_added[2] = {UINT32_MAX, 0};
    static const uint32_t no_dim[2] = {3, 0}, large_dim[2] = {3, TENSOR_DIM_MAX + 1},
                          one_bound[1] = {9}, many_dims[SHARD_TENSOR_COUNT_MAX + 1] = {1};
    static const int64_t before[1] = {-1}, start[1] = {0}, past[2] = {7, 5}, negative[2] = {-1, 5};
    static char same[2 * TENSOR_NAME_SIZE] = "labels", empty[2 * TENSOR_NAME_SIZE] = "labels",
                         unended[2 * TENSOR_NAME_SIZE];
    (void)snprintf(same + TENSOR_NAME_SIZE, TENSOR_NAME_SIZE, "labels");
    memset(unended, 'n', sizeof unended);
    static const double odd_rounds[PROGRESS_COUNT + 1];
    const struct bad_value bad[] = {
        {0, {"counts", ELEMENT_U64, node_beyond, 4}},
        {0, {"counts", ELEMENT_U64, count_beyond, 4}},
        {0, {"edge_widths", ELEMENT_U32, two_weights, 1}},
        {0, {"edge_widths", ELEMENT_U32, last_absent, 2}},
        {0, {"edge_widths", ELEMENT_U32, too_wide, EDGE_COLUMN_COUNT}},
        {0, {"edge_widths", ELEMENT_U32, too_many, EDGE_COLUMN_COUNT + 1}},
        {1, {"dim", ELEMENT_U32, no_dim, 2}},
        {1, {"dim", ELEMENT_U32, large_dim, 2}},
        {1, {"dim", ELEMENT_U32, no_dim, 0}},
        {1, {"dim", ELEMENT_U32, many_dims, SHARD_TENSOR_COUNT_MAX + 1}},
        {1, {"name", ELEMENT_U8, same, sizeof same}},
        {1, {"name", ELEMENT_U8, empty, sizeof empty}},
        {1, {"name", ELEMENT_U8, unended, sizeof unended}},
        {1, {"weights", ELEMENT_I64, past, 2}},
        {2, {"weights", ELEMENT_I64, negative, 2}},
        {3, {"integer", ELEMENT_I64, before, 0}},
        {4, {"offset", ELEMENT_U64, none, 1}},
        {5, {"shape", ELEMENT_U64, no_nodes, 2}},
        {5, {"shape", ELEMENT_U64, many_nodes, 2}},
        {6, {"shape", ELEMENT_U64, many_classes, 2}},
        {7, {"facts", ELEMENT_U64, facts_wide, 8}},
        {7, {"facts", ELEMENT_U64, task_nine, 8}},
        {7, {"book", ELEMENT_U32, one_bound, 1}},
        {9, {"first", ELEMENT_I64, before, 1}},
        {9, {"first", ELEMENT_I64, start, 1}},
        {12, {"rounds", ELEMENT_F64, odd_rounds, PROGRESS_COUNT + 1}},
        {12, {"rounds", ELEMENT_F64, odd_rounds, 0}},
        {14, {"tally", ELEMENT_F64, none, 0}},
        {16, {"held", ELEMENT_U64, more_rows, 2}},
        {16, {"held", ELEMENT_U64, rows_beyond, 2}},
        {17, {"delta", ELEMENT_U64, more_rows, 2}},
        {18, {"own_rows", ELEMENT_U64, own_beyond, 3}},
        {18, {"own_content", ELEMENT_U8, empty, 64}},
        {19, {"base_book", ELEMENT_U32, one_bound, 1}},
        {19, {"base_book", ELEMENT_U32, late_start, 3}},
        {19, {"base_book", ELEMENT_U32, falling, 3}},
        {19, {"gone", ELEMENT_U32, last_absent, 2}},
        {19, {"gone", ELEMENT_U32, gone_beyond, 2}},
        {19, {"added", ELEMENT_U32, many_added, 2}},
    };
    refuse(p, bad, sizeof bad / sizeof *bad);
}

static void values_of_no_typed_delta_are_refused(void **state)
{
    static const uint32_t typeless[2] = {0, 4}, odd_bounds[5] = {0, 1, 4, 4, 9},
                          types_fall[6] = {0, 5, 4, 4, 9, 9}, types_end[6] = {0, 1, 3, 4, 9, 9},
                          many_of_types[4] = {0, UINT32_MAX, 0, 0};
    const uint64_t relation_beyond[4] = {2, 7, 3, 0}, edges_beyond[4] = {2, 7, 1, 3},
                   rows_beyond[4] = {5, 8, 4, 3};
    const uint64_t more_rows[2] = {8, 7};
    const struct bad_value bad[] = {
        {22, {"added", ELEMENT_U32, many_of_types, 4}},
        {22, {"type_start", ELEMENT_U32, typeless, 2}},
        {22, {"type_start", ELEMENT_U32, odd_bounds, 5}},
        {22, {"type_start", ELEMENT_U32, types_fall, 6}},
        {22, {"type_start", ELEMENT_U32, types_end, 6}},
        {23, {"delta", ELEMENT_U64, more_rows, 2}},
        {23, {"delta", ELEMENT_U64, relation_beyond, 4}},
        {23, {"delta", ELEMENT_U64, edges_beyond, 4}},
        {24, {"held", ELEMENT_U64, more_rows, 2}},
        {24, {"held", ELEMENT_U64, rows_beyond, 4}},
    };
    refuse(*state, bad, sizeof bad / sizeof *bad);
}

static void every_cursor_of_a_snapshot_is_checked(void **state)
{
    struct temp_store *p = *state;
    static const int64_t bad[][8] = {{5, -2, 0, 3, 1, 2}, {3, 3, 0, 3, 1, 2},  {5, 3, 0, -1, 1, 2},
                                     {5, 3, 0, 6, 1, 2},  {5, 3, 0, 3, -1, 2}, {5, 3, 0, 3, 1, -1},
                                     {5, 3, -1, 3, 1, 2}, {5, 3, 2, 3, 1, 2}};
    struct found found;
    put_alone(p, &kinds[15], &found);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct tamper change = {"cursor", ELEMENT_I64, bad[i], 8};
        check_change(p, &kinds[15], found.key, &change, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(each_section_of_each_record_is_demanded),
        test_with_store(another_kind_or_version_is_refused),
        test_with_store(values_that_no_writer_writes_are_refused),
        test_with_store(values_of_no_typed_delta_are_refused),
        test_with_store(every_cursor_of_a_snapshot_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
