/*
 * sampler - how mini-batches are drawn: a row of sampler_list.h and a file for each.
 *
 * Samplers of neighbourhoods differ in which edges of a long row are kept. neighbor_sampler.h does the rest: it expands, numbers
 * and deduplicates, and asks a choice (struct neighbor_request) for the positions. Others put a batch of any form
 * (store/records/mini_batch.h) together by batch_builder.h. Each is a function of its request: the same bits for the same one.
 *
 * Validation and inference take all neighbours, but validation of samplers that have neighborhoods takes
 * sample.evaluation_fanouts, drawn as in training.
 *
 * To add one: a file <name>_sampler.c with its `const struct sampler <name>_row`, its row in sampler_list.h, a test that its choice is
 * unbiased, a line in pipelines/README.md; tests/tree/tables_agree_test.sh says what was forgotten.
 */
#ifndef STAGES_SAMPLING_SAMPLER_H
#define STAGES_SAMPLING_SAMPLER_H

#include "stages/sampling/neighbor_sampler.h"
#include "stages/sampling/sampler_list.h"

/* What the schedule gives a mini-batch. */
enum sampler_unit {
    SAMPLER_OF_SEEDS,    /* its share of the epoch's shuffled training nodes */
    SAMPLER_OF_DRAWS,    /* nothing: it draws sample.batch_size nodes or edges by itself */
    SAMPLER_OF_CLUSTERS, /* sample.clusters of the epoch's shuffled parts */
};

struct sampler {
    const char *name;
    unsigned needs; /* a bit for each enum edge_column that the topology must have */
    enum batch_form form;
    enum sampler_unit unit;
    bool has_neighborhoods; /* validation, too, is drawn by it */
    bool has_factors;       /* of edges, and with them degrees */
    bool is_disjoint;       /* nodes may be in a batch once for each seed */
    bool refuses_negatives; /* of the weights that it needs */
    /* Chances of nodes that it draws by, made once for all batches (node_chances.h); NULL: none. */
    const struct chance_rule *chances;
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
