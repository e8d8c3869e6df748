/*
 * run_rate - how the learning rates of a run change with its epochs (aggregate.schedule), for the
 * weights and for learnable rows.
 */
#ifndef STAGES_PLAN_MODEL_RUN_RATE_H
#define STAGES_PLAN_MODEL_RUN_RATE_H

#include "common/nn/optimizer.h"
#include "stages/plan/settings/pipeline_settings.h"

/* `base` is aggregate.learning_rate, or the rate of a learnable tensor (embedding_tensors.h). */
struct rate_config run_rate_of(const struct pipeline_settings *settings, double base);

#endif
