#include "common/base/memory.h"
#include "stages/plan/model/run_model.h"
#include "stages/train-step/step_memory.h"

#include "tests/support/block_fixture.h"
#include "tests/support/test.h"

struct plan_case {
    struct pipeline_settings settings;
    uint32_t parts[2];
    struct partition_book book;
    struct schedule schedule;
    struct stage_context context;
    struct model model;
};

static const struct edge_use nothing;

static void prepare(struct plan_case *c, const char *model, const char *hidden, const char *fanouts,
                    uint32_t nodes)
{
    struct error err = {0};
    *c = (struct plan_case){.parts = {0, nodes},
                            .book = {.part_count = 1,
                                     .node_count = nodes,
                                     .edge_count = 10ULL * nodes,
                                     .feature_dim = 50,
                                     .class_count = 10}};
    c->book.book = c->parts;
    pipeline_settings_defaults(&c->settings);
    assert_ok(pipeline_settings_assign(&c->settings, "train-step.model", model, "test", &err),
              &err);
    assert_ok(pipeline_settings_assign(&c->settings, "train-step.hidden", hidden, "test", &err),
              &err);
    assert_ok(pipeline_settings_assign(&c->settings, "sample.fanouts", fanouts, "test", &err),
              &err);
    assert_ok(schedule_init(&c->schedule, &c->settings, nodes, nodes, 1, &err), &err);
    assert_ok(run_model_init(&c->model, &c->settings, &c->book, &err), &err);
    c->context = (struct stage_context){.settings = &c->settings,
                                        .book = &c->book,
                                        .schedule = &c->schedule,
                                        .memory_bytes = 1ULL << 32};
}

static struct step_memory plan_of(const struct plan_case *c, uint32_t label_dim)
{
    struct error err = {0};
    struct step_memory plan = {0};
    assert_ok(step_memory_plan(&c->model, &c->context, &nothing, label_dim, &plan, &err), &err);
    return plan;
}

/* Returns the bytes of the arena that a step over the whole graph takes. If `counts`, the arena
 * only counts them. */
static size_t used_by_step(const struct plan_case *c, uint32_t nodes, bool counts)
{
    struct error err = {0};
    struct arena arena = {.counts = counts};
    struct block_fixture blocks;
    struct model_trace *trace = NULL;
    const struct model_workspace workspace = {.arena = &arena};
    float *value = memory_alloc(c->model.value_count, sizeof *value), *logits = NULL;
    block_fixture_whole(&blocks, c->model.config.layer_count, nodes, 50, 1);
    for (int layer = 0; counts && layer < c->model.config.layer_count; layer++) {
        struct message_block *block = &blocks.block[layer];
        *block = (struct message_block){.destination_count = block->destination_count,
                                        .source_count = block->source_count,
                                        .edge_count = message_block_edges(block)};
    }
    const struct model_input input = {.block = blocks.block, .rows = blocks.input};
    assert_ok(arena_new(&arena, &logits, (size_t)nodes * 10, "logits", &err), &err);
    assert_ok(model_forward(&c->model, value, &input, &workspace, logits, &trace, &err), &err);
    assert_ok(model_backward(&c->model, value, trace, logits, &workspace, value, &err), &err);
    const size_t used = arena.used;
    arena_release(&arena);
    block_fixture_release(&blocks);
    memory_free(value);
    return used;
}

static void a_step_over_the_whole_graph_stays_under_the_bound(void **state)
{
    static const char *const models[] = {"sage", "gcn"}, *const widths[] = {"16", "80"};
    (void)state;
    for (int m = 0; m < 2; m++)
        for (int w = 0; w < 2; w++) {
            const uint32_t nodes = 9000;
            struct plan_case c;
            prepare(&c, models[m], widths[w], "-1, -1, -1", nodes);
            c.schedule.batch_size = c.schedule.seeds_most = nodes;
            const struct step_memory plan = plan_of(&c, 1);
            const size_t used = used_by_step(&c, nodes, false);
            assert_int_equal(used_by_step(&c, nodes, true), used);
            /* the bound holds, and is not useless */
            if (used > plan.step_bytes || plan.step_bytes > 2 * used)
                fail_msg("%s %s: used %zu, bound %zu", models[m], widths[w], used,
                         (size_t)plan.step_bytes);
        }
}

static void smaller_fanouts_need_less(void **state)
{
    struct plan_case all, some;
    (void)state;
    prepare(&all, "sage", "64", "-1, -1", 10000000);
    prepare(&some, "sage", "64", "10, 5", 10000000);
    /* Validation uses all neighbours unless evaluation_fanouts is set. */
    assert_true(plan_of(&some, 1).step_bytes > 1ULL << 30);
    some.settings.sample.evaluation_fanouts = some.settings.sample.fanouts;
    assert_true(plan_of(&some, 1).step_bytes * 10 < plan_of(&all, 1).step_bytes);
}

/* A pipeline holds one layer at a time, and here each layer has all nodes. Validation takes next
 * to nothing. */
static void a_pipeline_of_layers_needs_less_than_the_whole(void **state)
{
    static const char *const models[] = {"sage", "gcn", "gat"};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct error err = {0};
        struct plan_case c;
        prepare(&c, models[m], "64", "-1, -1, -1, -1, -1", 100000);
        c.schedule.evaluation_batch_size = c.schedule.evaluation_seeds_most = 1;
        c.settings.sample.evaluation_fanouts =
            (struct int_list){.count = 5, .value = {1, 1, 1, 1, 1}};
        const uint64_t whole = plan_of(&c, 1).step_bytes;
        assert_ok(
            pipeline_settings_assign(&c.settings, "train-step.pipeline", "layers", "test", &err),
            &err);
        c.schedule.pipelined_layers = c.model.config.layer_count;
        const uint64_t layers = plan_of(&c, 1).step_bytes;
        assert_true(layers > 0 && 3 * layers < 2 * whole);
    }
}

static void the_parts_stay_within_the_budget(void **state)
{
    struct plan_case c;
    (void)state;
    prepare(&c, "sage", "64", "10, 5", 1000000);
    c.settings.sample.evaluation_fanouts = c.settings.sample.fanouts;
    const struct step_memory plan = plan_of(&c, 40);
    assert_true(plan.step_bytes + plan.feature_bytes + plan.label_bytes <= c.context.memory_bytes);
    assert_true(plan.feature_bytes > c.context.memory_bytes / 4);
}

static void a_small_budget_still_leaves_room_for_rows(void **state)
{
    struct plan_case c;
    (void)state;
    prepare(&c, "sage", "64", "-1, -1", 1000000);
    c.context.memory_bytes = 1 << 24;
    const struct step_memory plan = plan_of(&c, 40);
    assert_int_equal(plan.feature_bytes, 1 << 22);
    assert_true(plan.label_bytes <= 1 << 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_over_the_whole_graph_stays_under_the_bound),
        cmocka_unit_test(smaller_fanouts_need_less),
        cmocka_unit_test(a_pipeline_of_layers_needs_less_than_the_whole),
        cmocka_unit_test(the_parts_stay_within_the_budget),
        cmocka_unit_test(a_small_budget_still_leaves_room_for_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
