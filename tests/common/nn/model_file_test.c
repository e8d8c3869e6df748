#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/arrays/safetensors.h"
#include "common/nn/model_file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"
#include "tests/support/typed_fixture.h"

#include <stdio.h>

struct written {
    struct model model;
    float *value;
    char *bytes;
    size_t size;
    struct safetensors content;
};

static struct model_outline outline_of(enum layer_kind kind, int layers)
{
    return (struct model_outline){.layer.kind = kind,
                                  .hop_count = layers,
                                  .input_dim = 5,
                                  .layer.output_dim = 4,
                                  .output_dim = 3,
                                  .layer.dropout = 0.1};
}

static void write_config(struct written *w, const struct model_config *config,
                         enum model_flavor flavor)
{
    struct error err = {0};
    struct temp_dir dir;
    *w = (struct written){.value = NULL};
    temp_dir_make(&dir);
    const char *path = temp_dir_write(&dir, "model.safetensors", "what was there before", 21);
    assert_ok(model_init(&w->model, config, &err), &err);
    w->value = memory_alloc(w->model.value_count, sizeof *w->value);
    model_initialise(&w->model, 7, w->value);
    assert_ok(model_file_write(&w->model, w->value, "run-1", 12, flavor, NULL, path, &err), &err);
    assert_ok(file_read(path, 0, &w->bytes, &w->size, &err), &err);
    assert_ok(safetensors_decode((const uint8_t *)w->bytes, w->size, path, &w->content, &err),
              &err);
    temp_dir_remove(&dir);
}

static void write_outline(struct written *w, const struct model_outline *outline,
                          enum model_flavor flavor)
{
    struct model_config config;
    struct error err = {0};
    assert_ok(model_config_of(&config, outline, &err), &err);
    write_config(w, &config, flavor);
}

static void write_model(struct written *w, enum layer_kind kind, int layers,
                        enum model_flavor flavor)
{
    const struct model_outline outline = outline_of(kind, layers);
    write_outline(w, &outline, flavor);
}

static void forget(struct written *w)
{
    safetensors_release(&w->content);
    memory_free(w->bytes);
    memory_free(w->value);
}

/* Checks that tensor `name` is parameter `own` of the model, or its transpose. */
static void expect_tensor(const struct written *w, const char *name, const char *own,
                          bool transposed)
{
    const struct safetensors_tensor *tensor = safetensors_find(&w->content, name);
    const struct parameter *p = w->model.parameter;
    while (p < w->model.parameter + w->model.parameter_count && strcmp(p->name, own) != 0)
        p++;
    if (!tensor || p == w->model.parameter + w->model.parameter_count)
        fail_msg("no tensor %s, or no parameter %s", name, own);
    must(tensor);
    const uint32_t rows = p->rows, cols = p->cols;
    assert_int_equal(tensor->dim_count, p->dim_count);
    assert_int_equal(tensor->dim[0], transposed ? cols : rows);
    if (p->dim_count == 2)
        assert_int_equal(tensor->dim[1], transposed ? rows : cols);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < cols; c++) {
            const size_t at = transposed ? (size_t)c * rows + r : (size_t)r * cols + c;
            float found = 0;
            memcpy(&found, (const char *)tensor->data + 4 * at, sizeof found);
            assert_memory_equal(&found, &w->value[p->offset + (size_t)r * cols + c], sizeof found);
        }
}

static void expect_all(enum layer_kind layer, enum model_flavor flavor,
                       const char *const (*names)[2], int count, const char *transposed)
{
    struct written w;
    write_model(&w, layer, 3, flavor);
    assert_int_equal(w.content.tensor_count, 3 * count);
    for (int number = 0; number < 3; number++)
        for (int i = 0; i < count; i++) {
            char name[64], own[64];
            (void)snprintf(name, sizeof name, "%s.%d.%s",
                           flavor == MODEL_FLAVOR_PYG ? "convs" : "layers", number, names[i][0]);
            (void)snprintf(own, sizeof own, "convs.%d.%s", number, names[i][1]);
            expect_tensor(&w, name, own, transposed && strcmp(names[i][0], transposed) == 0);
        }
    forget(&w);
}

static void pyg_has_its_names_and_shapes(void **state)
{
    static const char *const sage[][2] = {{"lin_l.weight", "lin_l.weight"},
                                          {"lin_l.bias", "lin_l.bias"},
                                          {"lin_r.weight", "lin_r.weight"}};
    static const char *const gcn[][2] = {{"lin.weight", "lin.weight"}, {"bias", "bias"}};
    (void)state;
    expect_all(LAYER_SAGE, MODEL_FLAVOR_PYG, sage, 3, NULL);
    expect_all(LAYER_GCN, MODEL_FLAVOR_PYG, gcn, 2, NULL);
}

static void dgl_has_its_names_and_shapes(void **state)
{
    static const char *const sage[][2] = {{"fc_neigh.weight", "lin_l.weight"},
                                          {"fc_self.bias", "lin_l.bias"},
                                          {"fc_self.weight", "lin_r.weight"}};
    static const char *const gcn[][2] = {{"weight", "lin.weight"}, {"bias", "bias"}};
    (void)state;
    expect_all(LAYER_SAGE, MODEL_FLAVOR_DGL, sage, 3, NULL);
    expect_all(LAYER_GCN, MODEL_FLAVOR_DGL, gcn, 2, "weight");
}

static void expect_text(const struct written *w, const char *key, const char *value)
{
    const char *found = safetensors_metadata(&w->content, key);
    if (!found)
        fail_msg("no text %s", key);
    assert_string_equal(found, value);
}

static void the_metadata_says_how_to_build_the_model(void **state)
{
    static const struct {
        const char *key, *value;
    } expected[] = {
        {"model", "GraphSAGE"},    {"num_layers", "2"},
        {"in_channels", "5"},      {"hidden_channels", "4"},
        {"out_channels", "3"},     {"dropout", "0.100000001"},
        {"weights_version", "12"}, {"run", "run-1"},
        {"flavor", "pyg"},         {"format", "pt"},
        {"kind", "sage"},          {"aggr", "mean"},
        {"norm", "none"},          {"residual", "False"},
        {"activation", "relu"},    {"jumping_knowledge", "none"},
    };
    struct written w;
    (void)state;
    write_model(&w, LAYER_SAGE, 2, MODEL_FLAVOR_PYG);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        expect_text(&w, expected[i].key, expected[i].value);
    }
    expect_text(&w, "layers",
                "[{\"kind\":\"sage\",\"in_channels\":5,\"out_channels\":4,\"aggr\":\"mean\","
                "\"residual\":false,\"norm\":\"none\",\"activation\":\"relu\","
                "\"dropout\":0.10000000149011612},"
                "{\"kind\":\"sage\",\"in_channels\":4,\"out_channels\":3,\"aggr\":\"mean\","
                "\"residual\":false,\"norm\":\"none\",\"activation\":\"none\",\"dropout\":0."
                "10000000149011612}]");
    forget(&w);
    write_model(&w, LAYER_GCN, 1, MODEL_FLAVOR_DGL);
    assert_string_equal(safetensors_metadata(&w.content, "model"), "GCN");
    assert_string_equal(safetensors_metadata(&w.content, "flavor"), "dgl");
    forget(&w);
}

static void the_metadata_has_types_and_relations(void **state)
{
    struct model_outline outline = outline_of(LAYER_HGT, 2);
    struct written w;
    (void)state;
    outline.layer.option.heads = 2;
    outline.types = (struct model_types){.schema = fixture_schema,
                                         .input_dim = {3, 2, 4},
                                         .projects = {true, true, false},
                                         .projected_dim = 4,
                                         .projected_activation = ACTIVATION_RELU,
                                         .target_type = AUTHOR,
                                         .relation_aggr = RELATION_AGGR_MEAN};
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_text(&w, "kind", "hgt");
    expect_text(&w, "model", "HGT");
    expect_text(&w, "heads", "2");
    expect_text(&w, "num_layers", "2"); /* plus `lin` */
    assert_null(safetensors_metadata(&w.content, "in_channels"));
    expect_text(
        &w, "graph",
        "{\"node_types\":[\"paper\",\"author\",\"field.of\"],"
        "\"relations\":[[\"paper\",\"cites\",\"paper\"],[\"author\",\"writes\",\"paper\"],"
        "[\"paper\",\"rev_writes\",\"author\"],[\"paper\",\"has\",\"field.of\"],"
        "[\"field.of\",\"rev_has\",\"paper\"],[\"author\",\"never\",\"field.of\"]],"
        "\"in_channels\":{\"paper\":3,\"author\":2,\"field.of\":4},"
        "\"projected\":[\"paper\",\"author\"],\"projected_channels\":4,"
        "\"projected_activation\":\"relu\",\"target\":\"author\",\"relation_aggr\":\"mean\"}");
    forget(&w);
}

static void the_metadata_has_what_the_kind_has(void **state)
{
    struct model_outline outline = outline_of(LAYER_GAT, 2);
    struct written w;
    (void)state;
    outline.layer.option.heads = 2;
    outline.edge_dim = 6;
    outline.jumping_knowledge = JUMP_CAT;
    outline.layer.activation = ACTIVATION_ELU;
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_text(&w, "kind", "gat");
    expect_text(&w, "num_layers", "2");
    expect_text(&w, "heads", "2");
    expect_text(&w, "v2", "False");
    expect_text(&w, "edge_dim", "6");
    expect_text(&w, "activation", "elu");
    expect_text(&w, "jumping_knowledge", "cat");
    assert_null(safetensors_metadata(&w.content, "alpha"));
    assert_null(safetensors_metadata(&w.content, "aggr"));
    forget(&w);
    outline = outline_of(LAYER_APPNP, 2);
    outline.layer.option.alpha = 0.25;
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_text(&w, "kind", "appnp");
    expect_text(&w, "alpha", "0.25");
    assert_null(safetensors_metadata(&w.content, "edge_dim"));
    forget(&w);
    outline = outline_of(LAYER_GIN, 2);
    outline.layer.option.train_eps = true;
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_text(&w, "train_eps", "True");
    expect_text(&w, "inner", "same");
    forget(&w);
    outline.layer.norm = NORM_BATCH;
    outline.hop_count = 1; /* no norm lies behind the only layer; gin has it inside */
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_text(&w, "norm", "batch");
    expect_text(&w, "activation", "relu");
    forget(&w);
    outline.layer.option.inner = LAYER_INNER_RELU;
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_text(&w, "inner", "relu");
    expect_text(&w, "norm", "none");
    forget(&w);
}

static void the_metadata_says_how_to_build_the_decoder(void **state)
{
    const struct model_outline outline = outline_of(LAYER_SAGE, 2);
    struct model_config config;
    struct written w;
    struct error err = {0};
    (void)state;
    assert_ok(model_config_of(&config, &outline, &err), &err);
    config.decoder = DECODER_BILINEAR;
    config.decoder_outputs = 4;
    write_config(&w, &config, MODEL_FLAVOR_PYG);
    expect_text(&w, "decoder", "bilinear");
    expect_text(&w, "decoder_outputs", "4");
    expect_text(&w, "decoder_relations", "1");
    forget(&w);
}

static void equal_models_give_equal_bytes(void **state)
{
    struct written one, other;
    (void)state;
    for (int flavor = MODEL_FLAVOR_PYG; flavor <= MODEL_FLAVOR_DGL; flavor++) {
        write_model(&one, LAYER_GCN, 2, (enum model_flavor)flavor);
        write_model(&other, LAYER_GCN, 2, (enum model_flavor)flavor);
        assert_int_equal(one.size, other.size);
        assert_memory_equal(one.bytes, other.bytes, one.size);
        forget(&one);
        forget(&other);
    }
}

static void what_was_written_is_read_back(void **state)
{
    struct model_outline outline = outline_of(LAYER_SAGE, 3);
    struct written w, other;
    struct error err = {0};
    (void)state;
    outline.layer.norm = NORM_BATCH; /* a batch norm has counts */
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    float *value = memory_alloc(w.model.value_count, sizeof *value);
    assert_ok(model_file_take(&w.model, &w.content, "m", value, &err), &err);
    for (uint64_t i = 0; i < w.model.value_count; i++)
        assert_true(value[i] >= w.value[i] && value[i] <= w.value[i]);
    outline.layer.output_dim++;
    write_outline(&other, &outline, MODEL_FLAVOR_PYG);
    assert_fails(model_file_take(&w.model, &other.content, "m", value, &err), ERROR_INPUT,
                 "m: tensor convs.0.lin_l.weight has shape [5, 5], expected [4, 5] of F32", &err);
    forget(&other);
    write_model(&other, LAYER_GCN, 3, MODEL_FLAVOR_PYG);
    assert_fails(model_file_take(&w.model, &other.content, "m", value, &err), ERROR_INPUT,
                 "expected a tensor convs.0.lin_l.weight of shape [4, 5], found none", &err);
    forget(&other);
    write_model(&other, LAYER_SAGE, 3, MODEL_FLAVOR_PYG); /* the same model without norms */
    assert_fails(model_file_take(&other.model, &w.content, "m", value, &err), ERROR_INPUT,
                 "expected the model's", &err);
    forget(&other);
    memory_free(value);
    forget(&w);
}

static void failures_leave_the_file_as_it_was(void **state)
{
    struct written w;
    struct temp_dir dir;
    struct error err = {0};
    enum error_code rc = ERROR_NO_MEMORY;
    (void)state;
    write_model(&w, LAYER_GCN, 2, MODEL_FLAVOR_DGL);
    temp_dir_make(&dir);
    const char *path = temp_dir_write(&dir, "m", "before", 6);
    const long live = memory_live_blocks();
    for (long n = 0; rc != ERROR_NONE; n++) {
        uint64_t size = 0;
        memory_fail_after(n);
        rc = model_file_write(&w.model, w.value, "run-1", 12, MODEL_FLAVOR_DGL, NULL, path, &err);
        memory_fail_after(-1);
        assert_ok(file_size(path, &size, &err), &err);
        assert_int_equal(size, rc == ERROR_NONE ? w.size : 6);
        assert_int_equal(memory_live_blocks(), live);
        assert_true(n < 40 && (rc == ERROR_NO_MEMORY || (rc == ERROR_NONE && n > 2)));
    }
    temp_dir_remove(&dir);
    forget(&w);
}

static void what_dgl_needs_is_said(void **state)
{
    (void)state;
    const char *note = model_file_note(LAYER_GCN, MODEL_FLAVOR_DGL);
    assert_non_null(strstr(note, "w = 1 / torch.sqrt(d[u] * d[v])"));
    assert_non_null(strstr(note, "norm=\"none\""));
    assert_null(model_file_note(LAYER_GCN, MODEL_FLAVOR_PYG));
    assert_null(model_file_note(LAYER_SAGE, MODEL_FLAVOR_DGL));
}

static void norms_and_residuals_have_the_names_of_pyg(void **state)
{
    static const char *const names[] = {"convs.0.lin.weight",        "residuals.0.weight",
                                        "norms.0.module.weight",     "norms.0.module.bias",
                                        "convs.1.lin.weight",        "norms.0.module.running_mean",
                                        "norms.0.module.running_var"};
    struct model_outline outline = outline_of(LAYER_GCN, 3);
    struct error err = {0};
    struct written w;
    (void)state;
    outline.layer.norm = NORM_BATCH;
    outline.layer.residual = true;
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_tensor(&w, names[i], names[i], false);
    /* with equal widths a residual has no matrix */
    assert_int_equal(w.content.tensor_count, 3 * 2 + 1 + 2 * 5);
    const struct safetensors_tensor *steps =
        safetensors_find(&w.content, "norms.1.module.num_batches_tracked");
    assert_non_null(steps);
    assert_int_equal(steps->type, SAFETENSORS_I64);
    assert_int_equal(steps->dim_count, 0);
    assert_string_equal(safetensors_metadata(&w.content, "norm"), "batch");
    assert_string_equal(safetensors_metadata(&w.content, "residual"), "True");
    assert_fails(
        model_file_write(&w.model, w.value, "run-1", 12, MODEL_FLAVOR_DGL, NULL, "unused", &err),
        ERROR_INVALID, "PyG alone", &err);
    forget(&w);
    outline.layer.norm = NORM_LAYER;
    write_outline(&w, &outline, MODEL_FLAVOR_PYG);
    expect_tensor(&w, "norms.1.weight", "norms.1.weight", false);
    expect_tensor(&w, "norms.1.bias", "norms.1.bias", false);
    forget(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pyg_has_its_names_and_shapes),
        cmocka_unit_test(dgl_has_its_names_and_shapes),
        cmocka_unit_test(what_dgl_needs_is_said),
        cmocka_unit_test(the_metadata_says_how_to_build_the_model),
        cmocka_unit_test(the_metadata_has_what_the_kind_has),
        cmocka_unit_test(the_metadata_has_types_and_relations),
        cmocka_unit_test(the_metadata_says_how_to_build_the_decoder),
        cmocka_unit_test(equal_models_give_equal_bytes),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(failures_leave_the_file_as_it_was),
        cmocka_unit_test(norms_and_residuals_have_the_names_of_pyg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
