#include "stages/plan/model/run_rate.h"

struct rate_config run_rate_of(const struct pipeline_settings *settings, double base)
{
    return (struct rate_config){.rule = (enum rate_rule)settings->aggregate.schedule,
                                .base = base,
                                .epochs = settings->epochs,
                                .step_epochs = settings->aggregate.step_epochs,
                                .step_factor = settings->aggregate.step_factor,
                                .final_share = settings->aggregate.final_rate};
}
