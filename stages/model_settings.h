/* model_settings - the model that a run's settings and its data describe, in one place for all stages. */
#ifndef STAGES_MODEL_SETTINGS_H
#define STAGES_MODEL_SETTINGS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/pipeline_settings.h"
#include "store/records/partition_book.h"

/* Fails: ERROR_INPUT without features or labels; ERROR_INVALID as model_init() does. */
MUST_CHECK enum error_code model_from_settings(const struct pipeline_settings *settings,
                                               const struct partition_book *book, struct model *out,
                                               struct error *err);

#endif
