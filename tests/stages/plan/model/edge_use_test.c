#include "common/base/memory.h"
#include "stages/plan/model/edge_use.h"
#include "stages/plan/model/run_model.h"
#include "stages/sampling/sampler_list.h"

#include "tests/support/test.h"

#include <string.h>

static const struct edge_widths bare = {{0}}, weights = {{[EDGE_WEIGHT] = 1}},
                                all = {{1, 1, 1, 1, 7}};

static struct pipeline_settings settings_of(enum layer_kind kind, enum edge_choice choice)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.train_step.layer.kind = kind;
    settings.train_step.edge_weights = choice;
    return settings;
}

static enum error_code use_of(enum layer_kind kind, enum edge_choice choice,
                              const struct edge_widths *width, struct edge_use *use,
                              struct error *err)
{
    const struct pipeline_settings settings = settings_of(kind, choice);
    struct model *model = NULL;
    assert_ok(run_model_shape(&model, &settings, err), err);
    const enum error_code rc = edge_use_of(&settings, model, width, use, err);
    memory_free(model);
    return rc;
}

static void weights_are_used_where_layers_read_them_and_the_graph_has_them(void **state)
{
    (void)state;
    struct error err = {0};
    struct edge_use use;
    assert_ok(use_of(LAYER_SAGE, EDGE_CHOICE_AUTO, &all, &use, &err), &err);
    assert_int_equal(use.columns, 1U << EDGE_WEIGHT);
    assert_false(use.weight_sum);
    assert_int_equal(edge_use_edge_bytes(&use, &all), 4);
    assert_int_equal(edge_use_node_bytes(&use), 0);
    assert_ok(use_of(LAYER_GCN, EDGE_CHOICE_TRUE, &weights, &use, &err), &err);
    assert_int_equal(use.columns, 1U << EDGE_WEIGHT);
    assert_true(use.weight_sum);
    assert_int_equal(edge_use_node_bytes(&use), 4);
    assert_ok(use_of(LAYER_GCN, EDGE_CHOICE_AUTO, &bare, &use, &err), &err);
    assert_true(use.columns == 0 && !use.weight_sum);
    assert_ok(use_of(LAYER_MLP, EDGE_CHOICE_AUTO, &all, &use, &err), &err);
    assert_int_equal(use.columns, 0);
    assert_ok(use_of(LAYER_GCN, EDGE_CHOICE_FALSE, &all, &use, &err), &err);
    assert_true(use.columns == 0 && !use.weight_sum);
    assert_int_equal(use.refused, 1U << EDGE_WEIGHT);
}

static void what_is_demanded_has_to_be_there(void **state)
{
    (void)state;
    struct error err = {0};
    struct edge_use use;
    assert_fails(use_of(LAYER_SAGE, EDGE_CHOICE_TRUE, &bare, &use, &err), ERROR_INPUT,
                 "train-step.edge_weights is true, but the graph has no edge weights", &err);
    assert_fails(use_of(LAYER_MLP, EDGE_CHOICE_TRUE, &all, &use, &err), ERROR_INVALID,
                 "no layer of the model reads edge weights", &err);
}

static void negative_weights_are_refused_where_their_sum_is_a_divisor(void **state)
{
    (void)state;
    struct error err = {0};
    struct edge_use use;
    static struct dataset_schema schema;
    schema = (struct dataset_schema){.feature_dim = 1,
                                     .edge_width = weights,
                                     .negative_weight_count = 3,
                                     .first_negative_weight = "edges.csv:17"};
    struct pipeline_settings settings = settings_of(LAYER_GCN, EDGE_CHOICE_AUTO);
    assert_fails(edge_use_check(&settings, &schema, &use, &err), ERROR_INPUT,
                 "edges.csv:17: the weight is below 0, as are 3 in all", &err);
    schema.weight_least = 0.5;
    schema.weight_most = 3000000;
    assert_fails(edge_use_check(&settings, &schema, &use, &err), ERROR_INPUT,
                 "as are 3 in all (of sizes from 0.5 to 3000000)", &err);
    assert_non_null(strstr(err.message, "`weight_scale: rank`"));
    settings.train_step.edge_weights = EDGE_CHOICE_FALSE;
    assert_ok(edge_use_check(&settings, &schema, &use, &err), &err);
    settings = settings_of(LAYER_SAGE, EDGE_CHOICE_AUTO);
    assert_ok(edge_use_check(&settings, &schema, &use, &err), &err);
    assert_int_equal(use.columns, 1U << EDGE_WEIGHT);
}

static void weights_of_very_different_sizes_are_told(void **state)
{
    static struct dataset_schema schema;
    const struct edge_use reads = {.columns = 1U << EDGE_WEIGHT}, leaves = {.refused = 1U};
    struct pipeline_settings settings = settings_of(LAYER_SAGE, EDGE_CHOICE_AUTO);
    char text[EDGE_USE_TEXT_SIZE];
    (void)state;
    schema = (struct dataset_schema){.weight_least = 10, .weight_most = 10000};
    assert_false(edge_use_weights_differ(&settings, &schema, &reads, text));
    schema.weight_most = 10001;
    assert_true(edge_use_weights_differ(&settings, &schema, &reads, text));
    assert_non_null(strstr(text, "range from 10 to 10001"));
    assert_non_null(strstr(text, "`weight_scale: log` or `weight_scale: rank`"));
    assert_false(edge_use_weights_differ(&settings, &schema, &leaves, text));
    settings.ingest.weight_scale = WEIGHTS_LOG; /* the range is that of the scaled weights */
    assert_true(edge_use_weights_differ(&settings, &schema, &reads, text));
    assert_null(strstr(text, "log"));
    settings.ingest.weight_scale = WEIGHTS_RANK;
    assert_false(edge_use_weights_differ(&settings, &schema, &reads, text));
    settings.ingest.weight_scale = WEIGHTS_AS_GIVEN;
    schema = (struct dataset_schema){0}; /* as a dataset of an earlier release */
    assert_false(edge_use_weights_differ(&settings, &schema, &reads, text));
    assert_string_equal(text, "");
}

static void what_the_sampler_draws_by_has_to_be_there(void **state)
{
    (void)state;
    static const struct dataset_schema none = {.feature_dim = 1};
    static struct dataset_schema schema;
    struct edge_use use;
    struct error err = {0};
    struct pipeline_settings settings = settings_of(LAYER_GAT, EDGE_CHOICE_AUTO);
    settings.sample.sampler = SAMPLER_TEMPORAL_NEIGHBOR;
    assert_fails(edge_use_check(&settings, &none, &use, &err), ERROR_INPUT,
                 "sample.sampler is temporal_neighbor, which reads edge times, but the graph has "
                 "none: expected a column \"time\" in the table of edges",
                 &err);
    schema = (struct dataset_schema){
        .feature_dim = 1, .negative_weight_count = 3, .first_negative_weight = "edges.csv:17"};
    schema.edge_width.of[EDGE_TIME_F64] = 1; /* as a dataset of an earlier release */
    assert_ok(edge_use_check(&settings, &schema, &use, &err), &err);
    schema.edge_width.of[EDGE_TIME_F64] = 0;
    schema.edge_width.of[EDGE_TIME] = schema.edge_width.of[EDGE_WEIGHT] = 1;
    assert_ok(edge_use_check(&settings, &schema, &use, &err), &err);
    struct dataset_schema partly = {.feature_dim = 1, .edge_type_count = 3};
    partly.edge_type[1] = (struct edge_type){.name = "cites"};
    partly.edge_type[2] = (struct edge_type){.name = "writes"};
    partly.lacks[1] = 1U << EDGE_TIME;
    partly.lacks[2] = 1U << EDGE_WEIGHT;
    assert_fails(edge_use_check(&settings, &partly, &use, &err), ERROR_INPUT,
                 "which reads edge times of all relations, but relation cites has none: add a "
                 "column \"time\" to its table of edges, as others have, or write `sampler: "
                 "neighbor` below `sample:`",
                 &err);
    settings.sample.sampler = SAMPLER_WEIGHTED_NEIGHBOR;
    assert_fails(edge_use_check(&settings, &partly, &use, &err), ERROR_INPUT,
                 "which reads edge weights of all relations, but relation writes has none", &err);
    assert_fails(edge_use_check(&settings, &schema, &use, &err), ERROR_INPUT,
                 "edges.csv:17: the weight is below 0, as are 3 in all, and sample.sampler "
                 "weighted_neighbor",
                 &err);
}

static void the_relation_that_lacks_what_is_demanded_is_named(void **state)
{
    (void)state;
    struct edge_use use;
    struct error err = {0};
    struct dataset_schema partly = {.feature_dim = 1, .edge_type_count = 2};
    struct pipeline_settings settings = settings_of(LAYER_GATV2, EDGE_CHOICE_AUTO);
    settings.train_step.edge_features = EDGE_CHOICE_TRUE;
    partly.edge_type[1] = (struct edge_type){.name = "writes"};
    partly.lacks[1] = 1U << EDGE_FEATURE;
    assert_fails(edge_use_check(&settings, &partly, &use, &err), ERROR_INPUT,
                 "train-step.edge_features is true, but relation writes has no edge features: add "
                 "a column \"edge feature\" to its table of edges, as others have, or write "
                 "`edge_features: auto` below `train-step:`",
                 &err);
    settings.train_step.edge_features = EDGE_CHOICE_AUTO;
    assert_ok(edge_use_check(&settings, &partly, &use, &err), &err);
    assert_int_equal(use.columns, 0);
}

static void nodes_without_features_have_to_learn_some(void **state)
{
    (void)state;
    static const struct dataset_schema none = {.feature_origin = "none"};
    struct edge_use use;
    struct error err = {0};
    struct pipeline_settings settings = settings_of(LAYER_SAGE, EDGE_CHOICE_AUTO);
    assert_fails(edge_use_check(&settings, &none, &use, &err), ERROR_INPUT,
                 "write `embedding: 64` below `train-step:`", &err);
    settings.train_step.embedding = 8;
    assert_ok(edge_use_check(&settings, &none, &use, &err), &err);
}

static void a_mini_batch_has_to_have_what_the_model_reads(void **state)
{
    (void)state;
    static const float weight[4] = {1, 2, 3, 4}, sum[2] = {5, 6};
    struct error err = {0};
    const struct edge_use use = {.columns = 1U << EDGE_WEIGHT, .weight_sum = true}, none = {0};
    struct mini_batch batch = {.edge_count = 4, .node_count = 2};
    assert_ok(edge_use_check_batch(&none, &batch, &err), &err);
    assert_fails(edge_use_check_batch(&use, &batch, &err), ERROR_CORRUPT,
                 "expected a section weight, found none", &err);
    batch.columns.width.of[EDGE_WEIGHT] = 1;
    batch.columns.data[EDGE_WEIGHT] = weight;
    assert_fails(edge_use_check_batch(&use, &batch, &err), ERROR_CORRUPT,
                 "expected a section weight_sum, found none", &err);
    batch.weight_sum = sum;
    assert_ok(edge_use_check_batch(&use, &batch, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_used_where_layers_read_them_and_the_graph_has_them),
        cmocka_unit_test(what_is_demanded_has_to_be_there),
        cmocka_unit_test(negative_weights_are_refused_where_their_sum_is_a_divisor),
        cmocka_unit_test(weights_of_very_different_sizes_are_told),
        cmocka_unit_test(what_the_sampler_draws_by_has_to_be_there),
        cmocka_unit_test(the_relation_that_lacks_what_is_demanded_is_named),
        cmocka_unit_test(nodes_without_features_have_to_learn_some),
        cmocka_unit_test(a_mini_batch_has_to_have_what_the_model_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
