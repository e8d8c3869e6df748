#include "stages/train-step/pair_memory.h"

#include "stages/train-step/pair_step.h"
#include "stages/train-step/step_memory.h"

struct seed_pairs pair_memory_pairs(const struct model *model, int64_t positives, int64_t negatives)
{
    if (!model->config.decoder)
        return (struct seed_pairs){0};
    return (struct seed_pairs){.positive_count = step_memory_count((double)positives),
                               .negatives_each = step_memory_count((double)negatives)};
}

enum error_code pair_memory_count(const struct model *model, const struct seed_pairs *pairs,
                                  uint32_t seed_count, float *logits, float *value,
                                  const struct model_workspace *workspace, bool trains,
                                  struct error *err)
{
    struct loss_result loss;
    struct pair_step step = {
        .model = model, .weights = value, .pairs = pairs, .row = logits, .workspace = workspace};
    uint8_t *truth = NULL;
    enum error_code rc = pair_step_forward(&step, trains, &loss, err);
    if (rc == ERROR_NONE && trains)
        rc = pair_step_backward(&step, seed_count, logits, &value, err);
    return rc == ERROR_NONE
               ? arena_new(workspace->arena, &truth, seed_pairs_count(pairs), "truth", err)
               : rc;
}

double pair_memory_bytes(const struct seed_pairs *pairs)
{
    return 4 * (2 * (double)pairs->positive_count + (double)seed_pairs_count(pairs));
}
