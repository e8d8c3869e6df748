#include "stages/plan/chain/layer_pipeline.h"

#include "common/base/error.h"

int32_t layer_pipeline_passes(const struct schedule *s)
{
    return s->pipelined_layers > 0 ? 2 * s->pipelined_layers - 2 : 0;
}

struct pipeline_pass layer_pipeline_pass(const struct schedule *s, int32_t number)
{
    const int32_t layers = s->pipelined_layers;
    must(number >= 1 && number < 2 * layers);
    return (struct pipeline_pass){.layer = number <= layers ? number - 1 : 2 * layers - 1 - number,
                                  .is_forward = number <= layers,
                                  .is_backward = number >= layers};
}

int32_t layer_pipeline_window(const struct schedule *s)
{
    return layer_pipeline_passes(s) + 1;
}
