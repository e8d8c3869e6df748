/* The checks of a kind's row: for each rule one row breaks it, and all rows of the table satisfy
 * all rules. */
#include "common/nn/layers/gcn_weights.h"
#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/typed/layer_row.h"
#include "common/nn/typed/typed_layer.h"

#include "tests/support/test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUT = 6, OUTPUT = 4 };

static const struct layer_parameter matrix = {
    .suffix = "weight", .dim_count = 2, .rows = OUTPUT, .cols = INPUT};
static const struct layer_parameter own_matrix = {
    .suffix = "own", .dim_count = 2, .rows = OUTPUT, .cols = INPUT};
static const struct layer_parameter bias = {
    .suffix = "bias", .dim_count = 1, .rows = OUTPUT, .cols = 1};
static const struct layer_parameter narrow_bias = {
    .suffix = "bias", .dim_count = 1, .rows = OUTPUT - 1, .cols = 1};

static int one_matrix(const struct model_layer *layer, struct layer_parameter *out)
{
    (void)layer;
    out[0] = matrix;
    out[1] = bias;
    return 2;
}

static int two_matrices(const struct model_layer *layer, struct layer_parameter *out)
{
    out[2] = own_matrix;
    return one_matrix(layer, out) + 1;
}

static int no_bias(const struct model_layer *layer, struct layer_parameter *out)
{
    return one_matrix(layer, out) - 1;
}

static int short_bias(const struct model_layer *layer, struct layer_parameter *out)
{
    const int count = one_matrix(layer, out);
    out[1] = narrow_bias;
    return count;
}

static int same_names(const struct model_layer *layer, struct layer_parameter *out)
{
    const int count = two_matrices(layer, out);
    out[2].suffix = "weight";
    return count;
}

static int too_many(const struct model_layer *layer, struct layer_parameter *out)
{
    (void)one_matrix(layer, out);
    return LAYER_PARAMETER_COUNT_MAX + 1;
}

static bool always(uint32_t input_dim, uint32_t output_dim)
{
    return input_dim > 0 && output_dim > 0;
}

static enum error_code no_forward(struct layer_pass *pass, bool keep, struct arena *arena,
                                  struct thread_pool *pool, struct error *err)
{
    (void)pass;
    (void)keep;
    (void)arena;
    (void)pool;
    return error_set(err, ERROR_BUG, "this kind is never run");
}

/* A correct row for layers of the widths above. */
static const struct layer_type good = {.uses_edges = true,
                                       .parameters = two_matrices,
                                       .projects_first = neighbor_weights_project_first,
                                       .weigh = neighbor_weights};

static struct layer_type with_parameters(int (*parameters)(const struct model_layer *layer,
                                                           struct layer_parameter *out))
{
    struct layer_type type = good;
    type.parameters = parameters;
    return type;
}

static enum error_code check(const struct layer_type *type, struct error *err)
{
    const struct model_layer layer = {
        .type = type, .input_dim = INPUT, .own_dim = INPUT, .config.output_dim = OUTPUT};
    *err = (struct error){0};
    return layer_row_check(&layer, err);
}

static void a_linear_kind_has_a_matrix_for_each_part_of_an_aggregated_row(void **state)
{
    struct error err = {0};
    const struct layer_type one = with_parameters(one_matrix);
    struct layer_type beside = good, without_edges = {.parameters = two_matrices};
    (void)state;
    assert_ok(check(&good, &err), &err);
    assert_fails(check(&one, &err), ERROR_BUG, "has 2 parts of the input's width", &err);
    beside.weigh = gcn_weights; /* gcn_weights adds the own row to the sum */
    assert_fails(check(&beside, &err), ERROR_BUG, "has 1 parts of the input's width", &err);
    assert_fails(check(&without_edges, &err), ERROR_BUG, "has 2 matrices", &err);
}

static void a_linear_kind_has_one_bias_of_its_width(void **state)
{
    struct error err = {0};
    const struct layer_type none = with_parameters(no_bias), narrow = with_parameters(short_bias);
    (void)state;
    assert_fails(check(&none, &err), ERROR_BUG, "has 0 vectors", &err);
    assert_fails(check(&narrow, &err), ERROR_BUG, "bias is [3, 1]", &err);
}

static void tensors_are_few_enough_and_have_names_of_their_own(void **state)
{
    struct error err = {0};
    const struct layer_type same = with_parameters(same_names), many = with_parameters(too_many),
                            nothing = with_parameters(NULL);
    (void)state;
    assert_fails(check(&same, &err), ERROR_BUG, "two of its tensors are called weight", &err);
    assert_fails(check(&many, &err), ERROR_BUG, "LAYER_PARAMETER_COUNT_MAX", &err);
    assert_fails(check(&nothing, &err), ERROR_BUG, "no parameters()", &err);
}

static void functions_come_together(void **state)
{
    struct error err = {0};
    struct layer_type half = good, early = good, deaf = good, blind = good;
    (void)state;
    half.forward = no_forward;
    early.projects_first = always;
    deaf.uses_edges = false;
    blind.weigh = NULL;
    assert_fails(check(&half, &err), ERROR_BUG, "one of forward() and backward()", &err);
    assert_fails(check(&early, &err), ERROR_BUG, "projects before it aggregates", &err);
    assert_fails(check(&deaf, &err), ERROR_BUG, "but not uses_edges", &err);
    assert_fails(check(&blind, &err), ERROR_BUG, "needs weigh() and projects_first()", &err);
}

static void a_typed_kind_has_all_of_its_functions(void **state)
{
    struct error err = {0};
    const struct typed_kind empty = {.sums = true};
    const struct layer_type type = {.typed = &empty};
    const struct model_layer layer = {.type = &type, .typed = &empty};
    (void)state;
    assert_fails(layer_row_check_typed(&layer, &err), ERROR_BUG, "its `typed` needs", &err);
}

static void all_rows_of_the_table_are_sound(void **state)
{
    static const int64_t aggr[] = {LAYER_AGGR_MEAN, LAYER_AGGR_ADD, LAYER_AGGR_MAX};
    (void)state;
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++)
        for (int i = 0; i < 6; i++) {
            struct error err = {0};
            const struct layer_type *type = layer_type_of((enum layer_kind)kind);
            const struct model_layer layer = {.type = type,
                                              .input_dim = i < 3 ? 8 : 24,
                                              .own_dim = i < 3 ? 8 : 24,
                                              .config.output_dim = i < 3 ? 24 : 8,
                                              .config.option = {.heads = 4, .aggr = aggr[i % 3]},
                                              .joins_heads = true,
                                              .typed = type->typed};
            if (!type->only_typed)
                assert_ok(layer_row_check(&layer, &err), &err);
            if (type->typed)
                assert_ok(layer_row_check_typed(&layer, &err), &err);
        }
}

/* A layer inside a layer has no row in the table, so its pass checks the widths. */
static int run_pass_of_bad_row(void)
{
    static const float weight[OUTPUT * INPUT];
    static const uint32_t row_start[] = {0, 1}, neighbor[] = {1};
    const struct layer_type one = with_parameters(one_matrix);
    const struct model_layer layer = {
        .type = &one, .input_dim = INPUT, .config.output_dim = OUTPUT};
    const struct message_block block = {
        .destination_count = 1, .source_count = 2, .row_start = row_start, .neighbor = neighbor};
    const struct input_rows input = {.base = weight, .stride = INPUT};
    const struct rlimit no_core = {0, 0};
    struct layer_pass pass;
    struct arena arena = {0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)close(STDERR_FILENO);
    const enum error_code rc =
        layer_pass_init_matrix(&pass, &layer, weight, weight, &block, &input, &arena, NULL);
    arena_release(&arena);
    return (int)rc;
}

static void a_pass_whose_aggregated_rows_are_wider_than_its_matrix_stops(void **state)
{
    int status = 0;
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run_pass_of_bad_row());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_kind_has_a_matrix_for_each_part_of_an_aggregated_row),
        cmocka_unit_test(a_linear_kind_has_one_bias_of_its_width),
        cmocka_unit_test(tensors_are_few_enough_and_have_names_of_their_own),
        cmocka_unit_test(functions_come_together),
        cmocka_unit_test(a_typed_kind_has_all_of_its_functions),
        cmocka_unit_test(all_rows_of_the_table_are_sound),
        cmocka_unit_test(a_pass_whose_aggregated_rows_are_wider_than_its_matrix_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
