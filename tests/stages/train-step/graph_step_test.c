/*
 * The part of a step behind the layers, for graphs: its gradient against central differences, and
 * seeds that are not whole graphs.
 */
#include "common/base/memory.h"
#include "stages/train-step/graph_step.h"

#include "tests/support/test.h"

#include <math.h>

enum { DIM = 5, OUTPUTS = 3, SEEDS = 9, GRAPHS = 3, MOST = 200 };

static const uint32_t first[] = {0, 2, 7, 8, 12};
static const int32_t label[] = {2, 0, 1, 1};
/* Graphs 3, 0 and 2; node 7 of the last one occurs two more times. */
static const uint32_t seed[SEEDS] = {8, 9, 10, 11, 0, 1, 7, 7, 7};

struct fixture {
    struct model *model;
    struct arena arena;
    struct model_workspace workspace;
    struct graph_targets targets;
    struct loss_rule rule;
    float weights[MOST], row[SEEDS * DIM], slope[SEEDS * DIM];
    struct graph_step step;
    struct error err;
};

static float element(size_t i)
{
    return (float)((i * 2654435761U >> 7) % 2001) / 1000 - 1;
}

static void start(struct fixture *f, enum readout_kind readout)
{
    const struct model_config config = {
        .input_dim = 2,
        .layer_count = 1,
        .layer = {{.kind = LAYER_MLP, .output_dim = DIM, .activation = ACTIVATION_NONE}},
        .readout = readout,
        .graph_outputs = OUTPUTS};
    *f = (struct fixture){
        .targets = {.index = {.node_count = 12, .graph_count = 4, .first = first},
                    .labels = {.node_count = 4, .class_count = OUTPUTS, .row = label},
                    .label_bytes = sizeof *label}};
    assert_ok(memory_new(&f->model, 1, "a model", &f->err), &f->err);
    assert_ok(model_init(f->model, &config, &f->err), &f->err);
    assert_true(f->model->value_count <= MOST);
    for (size_t i = 0; i < MOST; i++)
        f->weights[i] = element(i);
    for (size_t i = 0; i < (size_t)SEEDS * DIM; i++)
        f->row[i] = element(i + 500);
    f->workspace = (struct model_workspace){&f->arena, NULL};
    f->step = (struct graph_step){.model = f->model,
                                  .weights = f->weights,
                                  .targets = &f->targets,
                                  .row = f->row,
                                  .workspace = &f->workspace,
                                  .task = task_of(TASK_GRAPH_CLASSIFICATION),
                                  .rule = &f->rule};
    assert_ok(graph_step_reserve(&f->step, GRAPHS, true, &f->err), &f->err);
}

static void end(struct fixture *f)
{
    arena_release(&f->arena);
    memory_free(f->model);
}

static double mean_loss(struct fixture *f)
{
    const struct loss_result loss = graph_step_forward(&f->step);
    return loss_mean(&loss);
}

static void check_slopes(struct fixture *f, float *value, const float *gradient, size_t count)
{
    const float change = 1e-2F;
    for (size_t i = 0; i < count; i++) {
        const float kept = value[i];
        value[i] = kept + change;
        const double above = mean_loss(f);
        value[i] = kept - change;
        const double below = mean_loss(f);
        value[i] = kept;
        assert_true(fabs((above - below) / (2 * (double)change) - (double)gradient[i]) < 2e-3);
    }
}

static void its_gradient_is_the_derivative_of_the_loss(void **state)
{
    (void)state;
    for (enum readout_kind kind = READOUT_SUM; kind < READOUT_COUNT; kind++) {
        struct fixture f;
        float *head = NULL, *weight = NULL, *bias = NULL;
        start(&f, kind);
        assert_ok(graph_step_find(&f.step, seed, 7, GRAPHS, &f.err), &f.err);
        assert_int_equal(f.step.graph_count, 3);
        const struct loss_result loss = graph_step_forward(&f.step);
        assert_int_equal(loss.label_count, 3);
        assert_ok(graph_step_backward(&f.step, f.slope, &head, &f.err), &f.err);
        check_slopes(&f, f.row, f.slope, (size_t)7 * DIM);
        const struct graph_classifier own = model_graph_classifier(f.model, f.weights);
        model_graph_classifier_gradient(f.model, head, &weight, &bias);
        check_slopes(&f, f.weights + (own.weight - f.weights), weight, (size_t)OUTPUTS * DIM);
        check_slopes(&f, f.weights + (own.bias - f.weights), bias, OUTPUTS);
        end(&f);
    }
}

static void labels_are_those_of_the_graphs(void **state)
{
    struct fixture f;
    (void)state;
    start(&f, READOUT_MEAN);
    assert_ok(graph_step_find(&f.step, seed, 7, GRAPHS, &f.err), &f.err);
    static const int32_t wanted[] = {1, 2, 1};
    assert_memory_equal(f.step.label, wanted, sizeof wanted);
    end(&f);
}

static void seeds_are_whole_graphs(void **state)
{
    struct fixture f;
    static const uint32_t beyond[] = {12};
    (void)state;
    start(&f, READOUT_SUM);
    assert_fails(graph_step_find(&f.step, seed, 3, GRAPHS, &f.err), ERROR_CORRUPT,
                 "seeds of the mini-batch: node 8 at place 0: expected all nodes of up to 3 graphs",
                 &f.err);
    assert_fails(graph_step_find(&f.step, seed + 1, 6, GRAPHS, &f.err), ERROR_CORRUPT,
                 "node 9 at place 0", &f.err);
    assert_fails(graph_step_find(&f.step, seed, SEEDS, GRAPHS, &f.err), ERROR_CORRUPT,
                 "node 7 at place 7", &f.err);
    assert_fails(graph_step_find(&f.step, beyond, 1, GRAPHS, &f.err), ERROR_CORRUPT,
                 "node 12 at place 0", &f.err);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_gradient_is_the_derivative_of_the_loss),
        cmocka_unit_test(labels_are_those_of_the_graphs),
        cmocka_unit_test(seeds_are_whole_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
