/*
 * sampler - how mini-batches are drawn: a row of sampler_list.h and a file for each.
 *
 * What differs between samplers of neighbourhoods is which edges of a long row are kept. neighbor_sampler.h does the rest:
 * it expands, numbers and deduplicates, and asks a choice (struct neighbor_request) for the positions. A sampler of
 * another kind draws by itself.
 *
 * To add one: a file <name>_sampler.c with its `const struct sampler <name>_row`, its row in sampler_list.h, a test that its choice is
 * unbiased, a line in pipelines/README.md; tests/tree/tables_agree_test.sh says what was forgotten.
 */
#ifndef STAGES_SAMPLING_SAMPLER_H
#define STAGES_SAMPLING_SAMPLER_H

#include "stages/sampling/neighbor_sampler.h"
#include "stages/sampling/sampler_list.h"

struct sampler {
    const char *name;
    unsigned needs; /* a bit for each enum edge_column that the topology must have */
    /* A mini-batch of the request; as neighbor_sampler_draw(), and the same bits for the same request. */
    enum error_code (*draw)(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err);
};

const struct sampler *sampler_of(enum sampler_kind kind);
/* Fails: ERROR_INVALID naming the columns that the sampler needs and the topology does not have. */
MUST_CHECK enum error_code sampler_check(const struct sampler *sampler,
                                         const struct topology *topology, struct error *err);

#endif
