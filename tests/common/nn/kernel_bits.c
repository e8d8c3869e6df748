/*
 * kernel_bits - prints a hash of the results of kernels: a step of each kind of layer with each
 * tail, with dropout, and an update.
 *
 * It is built once for each instruction set; ctest compares the hashes
 * (common/nn/kernel_levels_agree).
 */
#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model.h"
#include "common/nn/optimizer.h"

#include "tests/support/block_fixture.h"
#include "tests/support/typed_fixture.h"

#include <math.h>
#include <stdio.h>

enum { SEEDS = 70, DIM = 37, CLASSES = 5 };

static const uint32_t hop_end[] = {SEEDS, 300, 900};

static struct model_outline outline_of(enum layer_kind kind)
{
    return (struct model_outline){.layer.kind = kind,
                                  .hop_count = 2,
                                  .input_dim = DIM,
                                  .layer.output_dim = 24,
                                  .output_dim = CLASSES,
                                  .layer.option = {.heads = 3},
                                  .layer.dropout = 0.25};
}

static void add_step(const struct model_outline *outline, struct checksum_stream *sum)
{
    const struct random_stream dropout = random_stream_of(7, RANDOM_DROPOUT, 3, 0, 1);
    const struct optimizer_config adam = {
        .rule = RULE_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.01};
    struct block_fixture blocks;
    struct model model;
    struct arena arena = {0};
    struct error err = {0};
    struct model_trace *trace = NULL;
    float *value = NULL, *gradient = NULL, *first = NULL, *second = NULL;
    float logits[SEEDS * CLASSES], slope[SEEDS * CLASSES];
    block_fixture_make(&blocks, 2, hop_end, DIM, 11);
    must(model_init_outline(&model, outline, &err) == ERROR_NONE);
    must(arena_new(&arena, &value, model.value_count, "values", &err) == ERROR_NONE);
    must(arena_new(&arena, &gradient, model.value_count, "values", &err) == ERROR_NONE);
    must(arena_new(&arena, &first, model.value_count, "values", &err) == ERROR_NONE);
    must(arena_new(&arena, &second, model.value_count, "values", &err) == ERROR_NONE);
    model_initialise(&model, 5, value);
    for (size_t i = 0; i < model.value_count; i++)
        first[i] = second[i] = 0;
    for (size_t i = 0; i < sizeof slope / sizeof *slope; i++)
        slope[i] = sinf((float)i);
    const struct model_workspace workspace = {.arena = &arena};
    const struct model_input input = {
        .block = blocks.block, .seed_count = SEEDS, .rows = blocks.input, .dropout = &dropout};
    must(model_forward(&model, value, &input, &workspace, logits, &trace, &err) == ERROR_NONE);
    must(model_backward(&model, value, trace, slope, &workspace, gradient, &err) == ERROR_NONE);
    (void)optimizer_step(&adam, 0.01, 1, model.value_count, value, gradient, first, second);
    checksum_stream_add(sum, logits, sizeof logits);
    checksum_stream_add(sum, gradient, model.value_count * sizeof *gradient);
    checksum_stream_add(sum, value, model.value_count * sizeof *value);
    arena_release(&arena);
    block_fixture_release(&blocks);
}

/* Adds a step of a model over relations to the hash. */
static void add_typed_step(enum layer_kind kind, struct checksum_stream *sum)
{
    static const uint32_t count[][FIXTURE_TYPES] = {
        {1500, 700, 300}, {700, 400, 90}, {SEEDS, 0, 0}};
    static struct model model;
    const struct random_stream dropout = random_stream_of(7, RANDOM_DROPOUT, 1, 0, 0);
    const struct relation_schema *schema =
        layer_type_of(kind)->divides_by_ends ? &fixture_reversed_schema : &fixture_schema;
    struct model_config config = {.layer_count = 2,
                                  .types = {.schema = *schema,
                                            .input_dim = {33, 17, 24},
                                            .projects = {true, true},
                                            .projected_dim = 24}};
    struct typed_fixture blocks;
    struct arena arena = {0};
    struct error err = {0};
    struct model_trace *trace = NULL;
    float logits[SEEDS * 8], slope[SEEDS * 8];
    for (int i = 0; i < 2; i++)
        config.layer[i] = (struct layer_config){.kind = kind,
                                                .output_dim = i ? 8 : 32,
                                                .option = {.heads = 4, .bases = 2},
                                                .activation = i ? ACTIVATION_NONE : ACTIVATION_RELU,
                                                .dropout = 0.5};
    must(model_init(&model, &config, &err) == ERROR_NONE);
    typed_fixture_make(&blocks, schema, 2, count, config.types.input_dim, 7, true);
    float *value = memory_alloc(2 * model.value_count, sizeof *value);
    float *gradient = value + model.value_count;
    model_initialise(&model, 3, value);
    for (size_t i = 0; i < sizeof slope / sizeof *slope; i++)
        slope[i] = (float)((int)(i * 7 % 13) - 6) / 64;
    const struct model_workspace workspace = {.arena = &arena};
    const struct model_input input = {
        .relations = blocks.block, .type_rows = blocks.rows, .dropout = &dropout};
    must(model_forward(&model, value, &input, &workspace, logits, &trace, &err) == ERROR_NONE);
    must(model_backward(&model, value, trace, slope, &workspace, gradient, &err) == ERROR_NONE);
    checksum_stream_add(sum, logits, sizeof logits);
    checksum_stream_add(sum, gradient, model.value_count * sizeof *gradient);
    memory_free(value);
    arena_release(&arena);
    typed_fixture_release(&blocks);
}

int main(void)
{
    struct checksum_stream *sum = NULL;
    char text[CHECKSUM_TEXT_SIZE];
    must(checksum_stream_new(&sum, NULL) == ERROR_NONE);
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        const struct model_outline outline = outline_of((enum layer_kind)kind);
        /* These kinds are no models by themselves; models of sgc contain the first. */
        if (kind != LAYER_PROPAGATE && kind != LAYER_IDENTITY &&
            !layer_type_of((enum layer_kind)kind)->only_typed)
            add_step(&outline, sum);
        /* gcn represents the kinds that divide by both ends: the others begin with a layer of
         * another kind. */
        const struct layer_type *type = layer_type_of((enum layer_kind)kind);
        if (type->typed && kind != LAYER_MLP && (!type->divides_by_ends || kind == LAYER_GCN))
            add_typed_step((enum layer_kind)kind, sum);
    }
    for (int i = 1; i < NORM_KIND_COUNT * ACTIVATION_KIND_COUNT; i++) {
        struct model_outline outline = outline_of(LAYER_SAGE);
        outline.layer.norm = (enum norm_kind)(i % NORM_KIND_COUNT);
        outline.layer.activation = (enum activation_kind)(i % ACTIVATION_KIND_COUNT);
        outline.jumping_knowledge = (enum jumping_knowledge)(i % JUMPING_KNOWLEDGE_COUNT);
        outline.layer.residual = i % 2;
        add_step(&outline, sum);
    }
    const struct checksum all = checksum_stream_sum(sum);
    checksum_text(&all, text);
    checksum_stream_free(sum);
    (void)printf("%s\n", text);
    return 0;
}
