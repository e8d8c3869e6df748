/*
 * compared_plans - compares the changes of a version that are found through the deltas since its
 * base with those found by comparing all rows. For the tests of versions' partitions.
 */
#ifndef TESTS_STAGES_PARTITION_COMPARED_PLANS_H
#define TESTS_STAGES_PARTITION_COMPARED_PLANS_H

#include "stages/partition/kept_assignment.h"
#include "stages/partition/version_delta.h"
#include "stages/partition/version_numbering.h"

#include "tests/support/test.h"

/* A dataset in the form in which partition plans with it. */
struct planned {
    struct partition_input input;
    struct kept_assignment kept;
    struct renumbering renumbering;
    struct delta_base base;
};

static inline void prepare_plan(const struct stage_context *context, const char *dataset_id,
                                const char *partition_id, struct planned *p)
{
    struct error err = {0};
    *p = (struct planned){.base = {.partition_id = ""}};
    assert_ok(partition_input_of(&p->input, context, dataset_id, &err), &err);
    assert_string_equal(p->input.id, partition_id);
    assert_ok(partition_input_measure(&p->input, &err), &err);
    assert_ok(kept_assignment_find(&p->input, &p->kept, &err), &err);
    assert_ok(version_numbering(&p->input, p->kept.part, p->kept.method, &p->renumbering, &err),
              &err);
    assert_ok(delta_base_find(context, dataset_id, partition_id, &p->base, &err), &err);
    assert_true(p->base.is_chosen && p->base.is_there);
}

static inline void release_plan(struct planned *p)
{
    renumbering_release(&p->renumbering);
    kept_assignment_release(&p->kept);
    partition_input_release(&p->input);
}

static inline void plan_delta(const struct planned *p, enum tensor_type type, bool reads_all,
                              struct part_delta *out)
{
    struct error err = {0};
    bool is_delta = false;
    const struct numbering numbering = renumbering_view(&p->renumbering);
    assert_ok(
        version_delta_plan(&p->input, &p->base, &numbering, type, reads_all, out, &is_delta, &err),
        &err);
    assert_true(is_delta);
}

/* Compares the changed rows of relations. `partial`: some nodes have changed in some of their
 * relations alone. */
static inline void compare_rows_of_relations(const struct part_delta *named,
                                             const struct part_delta *all, bool partial)
{
    bool is_partial = false;
    assert_int_equal(named->row_count, all->row_count);
    for (uint32_t i = 0; i < named->row_count; i++) {
        assert_int_equal(named->row_node[i], all->row_node[i]);
        assert_true(named->row_relations[i] == all->row_relations[i]);
        is_partial |= (named->row_relations[i] & 3) == 2; /* the second relation, and not the
                                                           * first */
    }
    assert_int_equal(is_partial, partial);
}

/* Compares the plans of a partition that is a delta already. `memory`: of the program. `least`: the
 * least number of nodes whose edges, rows or labels have changed, for each. */
static inline void compare_plans(struct store *store, const struct pipeline_settings *settings,
                                 uint64_t memory, const char *dataset_id, const char *partition_id,
                                 uint32_t least, bool partial)
{
    const struct stage_context context = {
        .store = store, .settings = settings, .threads = 1, .memory_bytes = memory};
    const enum tensor_type type =
        settings->partition.feature_type == FEATURE_BF16 ? TENSOR_BF16 : TENSOR_F32;
    struct planned p;
    struct part_delta named, all;
    uint32_t marks[3] = {0};
    prepare_plan(&context, dataset_id, partition_id, &p);
    plan_delta(&p, type, false, &named);
    plan_delta(&p, type, true, &all);
    const uint32_t nodes = p.input.schema.node_count;
    for (uint32_t node = 0; node < nodes; node++) {
        if (named.other[node] != all.other[node])
            fail_msg("node %u: %u by the deltas, %u by comparing all", node, named.other[node],
                     all.other[node]);
        for (int bit = 0; bit < 3; bit++)
            marks[bit] += named.other[node] >> bit & 1;
    }
    for (int bit = 0; bit < 3; bit++)
        assert_in_range(marks[bit], least, nodes / 10 * 9);
    assert_int_equal(named.record.gone_count, all.record.gone_count);
    compare_rows_of_relations(&named, &all, partial);
    part_delta_release(&named);
    part_delta_release(&all);
    release_plan(&p);
}

#endif
