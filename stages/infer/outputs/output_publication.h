/*
 * output_publication - writes the small files of the outputs, metrics and model, and publishes the
 * folder with all files.
 *
 * The folder becomes an artifact first, and its seal is written last. So a reader that finds the
 * seal finds all files.
 */
#ifndef STAGES_INFER_OUTPUTS_OUTPUT_PUBLICATION_H
#define STAGES_INFER_OUTPUTS_OUTPUT_PUBLICATION_H

#include "common/base/error.h"
#include "common/nn/tasks/tally.h"
#include "stages/infer/outputs/edge_bank.h"
#include "stages/infer/outputs/output_writer.h"
#include "store/records/round/outputs_seal.h"

#include <stdint.h>

/* Writes metrics.json, and its text to the seal. tally [SPLIT_COUNT] has the results of measured
 * [SPLIT_COUNT] examples; empty splits are left out. The baseline is included if it was
 * measured. Fails: ERROR_INVALID if the text is too long; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code output_metrics_write(const struct output_request *request,
                                                const char *folder, struct tally *tally,
                                                const uint64_t *measured,
                                                const struct edge_bank *edge_bank,
                                                struct outputs_seal *seal, struct error *err);
/* Writes model.safetensors, with its card. */
MUST_CHECK enum error_code output_model_write(const struct output_request *request,
                                              const char *folder, struct error *err);
/* Flushes the folder, publishes it under the version of the seal's weights, and then writes the
 * seal. If another worker has published it before, its files are compared: ERROR_CORRUPT if they
 * differ. Logs the result. */
MUST_CHECK enum error_code output_publish(const struct stage_context *context, const char *folder,
                                          const struct outputs_seal *seal, struct error *err);

#endif
