/*
 * kernel_bits - prints a hash of what kernels compute: a step of each kind of layer, and of what may follow layers, with
 * dropout, and an update.
 *
 * Built once for each instruction set; ctest compares what they print (common/nn/kernel_levels_agree).
 */
#include "common/base/checksum.h"
#include "common/base/memory.h"
#include "common/nn/model.h"
#include "common/nn/optimizer.h"

#include "tests/support/block_fixture.h"

#include <math.h>
#include <stdio.h>

enum { SEEDS = 70, DIM = 37, CLASSES = 5 };

static const uint32_t hop_end[] = {SEEDS, 300, 900};

static struct model_outline outline_of(enum layer_kind kind)
{
    return (struct model_outline){.kind = kind,
                                  .hop_count = 2,
                                  .input_dim = DIM,
                                  .hidden_dim = 24,
                                  .output_dim = CLASSES,
                                  .option = {.heads = 3},
                                  .dropout = 0.25F};
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

int main(void)
{
    struct checksum_stream *sum = NULL;
    char text[CHECKSUM_TEXT_SIZE];
    must(checksum_stream_new(&sum, NULL) == ERROR_NONE);
    for (int kind = 0; kind < LAYER_KIND_COUNT; kind++) {
        const struct model_outline outline = outline_of((enum layer_kind)kind);
        if (kind != LAYER_PROPAGATE) /* no model by itself; sgc has it */
            add_step(&outline, sum);
    }
    for (int i = 1; i < NORM_KIND_COUNT * ACTIVATION_KIND_COUNT; i++) {
        struct model_outline outline = outline_of(LAYER_SAGE);
        outline.norm = (enum norm_kind)(i % NORM_KIND_COUNT);
        outline.activation = (enum activation_kind)(i % ACTIVATION_KIND_COUNT);
        outline.jumping_knowledge = (enum jumping_knowledge)(i % JUMPING_KNOWLEDGE_COUNT);
        outline.residual = i % 2;
        add_step(&outline, sum);
    }
    const struct checksum all = checksum_stream_sum(sum);
    checksum_text(&all, text);
    checksum_stream_free(sum);
    (void)printf("%s\n", text);
    return 0;
}
