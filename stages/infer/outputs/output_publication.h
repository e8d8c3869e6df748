/*
 * output_publication - the small files of the outputs, metrics and model, and how the folder of all
 * of them is published.
 *
 * The folder becomes an artifact, and then its seal says that it is whole: who finds the seal finds
 * the files.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_PUBLICATION_H
#define STAGES_INFER_OUTPUTS_OUTPUT_PUBLICATION_H

#include "common/base/error.h"
#include "common/nn/tasks/tally.h"
#include "stages/infer/outputs/edge_bank.h"
#include "stages/infer/outputs/output_writer.h"
#include "store/records/round/outputs_seal.h"

#include <stdint.h>

/* Writes metrics.json, whose text the seal has, too: `tally` [SPLIT_COUNT] of `measured`
 * [SPLIT_COUNT] examples without empty splits, and the baseline if it was measured.
 * Fails: ERROR_INVALID when they are too many; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code output_metrics_write(const struct output_request *request,
                                                const char *folder, struct tally *tally,
                                                const uint64_t *measured,
                                                const struct edge_bank *edge_bank,
                                                struct outputs_seal *seal, struct error *err);
/* model.safetensors, with its card. */
MUST_CHECK enum error_code output_model_write(const struct output_request *request,
                                              const char *folder, struct error *err);
/* Flushes the folder, publishes it under the version of the seal's weights, and then the seal.
 * Where another has published it before, its files are compared: ERROR_CORRUPT where they differ.
 * The log is told what came out. */
MUST_CHECK enum error_code output_publish(const struct stage_context *context, const char *folder,
                                          const struct outputs_seal *seal, struct error *err);

#endif
