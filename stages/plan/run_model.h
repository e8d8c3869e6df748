/*
 * run_model - the model that a run trains, from its settings and its partition, and that model's weights.
 *
 * One place, so that the stages that touch weights cannot disagree about their layout.
 */
#ifndef STAGES_PLAN_RUN_MODEL_H
#define STAGES_PLAN_RUN_MODEL_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/plan/pipeline_settings.h"
#include "store/records/parameters.h"
#include "store/records/partition_book.h"

enum { RUN_MODEL_TABLE_SIZE = PARAMETER_COUNT_MAX * (PARAMETER_NAME_SIZE + 24) };

/* Computes in fp32: only train-step takes the precision of the settings, where this is possible. Weights
 * and logits are floats in either.
 * It is a model over the types and relations of the book, and borrows their names from it: a type reads its features, and behind
 * them the learnable row that it has (embedding_shards.h).
 * Fails: ERROR_INPUT for a dataset, or a type, without features or classes; ERROR_INVALID. */
MUST_CHECK enum error_code run_model_init(struct model *out,
                                          const struct pipeline_settings *settings,
                                          const struct partition_book *book, struct error *err);
/* Columns of features that it reads of a node type; 0: none. */
uint32_t run_model_type_dim(const struct pipeline_settings *settings,
                            const struct partition_book *book, uint32_t type);
/* The same with an input and an output of some columns, for what does not depend on the dataset: how many layers there
 * are, and what they want. A model is too large for the stack of a process that may have few addresses.
 * Owns:  *out; memory_free(). NULL when it fails.
 * Fails: ERROR_INVALID, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
run_model_shape(struct model **out, const struct pipeline_settings *settings, struct error *err);
/* For a machine that trains: `hindrance` is bf16_product_hindrance(), `processor` what it calls itself.
 * Fails: ERROR_INVALID when the settings want products that it has not. */
MUST_CHECK enum error_code run_model_check_precision(const struct pipeline_settings *settings,
                                                     const char *hindrance, const char *processor,
                                                     struct error *err);
/* As above, for this machine. */
MUST_CHECK enum error_code run_model_check_machine(const struct pipeline_settings *settings,
                                                   struct error *err);
/* Fails: ERROR_CORRUPT, with the first line that differs, unless the weights are laid out as the model
 * wants them. */
MUST_CHECK enum error_code run_model_check_weights(const struct model *model,
                                                   const struct weights *weights,
                                                   struct error *err);

#endif
