/*
 * run_model - the model that a run trains, from its settings and its partition, and the layout of
 * its weights.
 *
 * It is in one place, so that the stages that read and write weights cannot disagree about their
 * layout.
 */
#ifndef STAGES_PLAN_MODEL_RUN_MODEL_H
#define STAGES_PLAN_MODEL_RUN_MODEL_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/partition/partition_book.h"
#include "store/records/round/parameters.h"

enum { RUN_MODEL_TABLE_SIZE = PARAMETER_COUNT_MAX * (PARAMETER_NAME_SIZE + 24) };

/* Makes the model over the types and relations of the book, whose names it borrows. A type reads
 * its features, followed by its learnable row if it has one (embedding_shards.h). The model
 * computes in fp32: only train-step uses the precision of the settings, where this is possible.
 * Weights and logits are floats in either case. Fails: ERROR_INPUT for a dataset, or a type,
 * without features or classes; ERROR_INVALID. */
MUST_CHECK enum error_code run_model_init(struct model *out,
                                          const struct pipeline_settings *settings,
                                          const struct partition_book *book, struct error *err);
/* Returns the number of feature columns that the model reads of a node type; 0: none. */
uint32_t run_model_type_dim(const struct pipeline_settings *settings,
                            const struct partition_book *book, uint32_t type);
/* Makes a model with arbitrary widths of input and output, for what does not depend on the dataset:
 * how many layers there are, and which inputs they need. It is on the heap, because a model is too
 * large for the stack of a process that may have few addresses.
 * Owns: *out; memory_free(). NULL when it fails.
 * Fails: ERROR_INVALID, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
run_model_shape(struct model **out, const struct pipeline_settings *settings, struct error *err);
/* Checks whether a machine can train in the precision of the settings: `hindrance` is
 * bf16_product_hindrance(), `processor` the processor's name. Fails: ERROR_INVALID when the
 * settings want products that the machine does not have. */
MUST_CHECK enum error_code run_model_check_precision(const struct pipeline_settings *settings,
                                                     const char *hindrance, const char *processor,
                                                     struct error *err);
/* Does the same for this machine. */
MUST_CHECK enum error_code run_model_check_machine(const struct pipeline_settings *settings,
                                                   struct error *err);
/* Checks that the weights are laid out as the model wants them. Fails: ERROR_CORRUPT with the first
 * line that differs. */
MUST_CHECK enum error_code run_model_check_weights(const struct model *model,
                                                   const struct weights *weights,
                                                   struct error *err);

#endif
