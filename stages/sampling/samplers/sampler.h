/*
 * sampler - the ways to draw mini-batches: each is a row of sampler_list.h and a file.
 *
 * Samplers of neighbourhoods differ in which edges of a long row they keep. neighbor_sampler.h
 * does the rest: it expands, numbers and deduplicates, and calls the sampler's choice (struct
 * neighbor_request) for the positions. Other samplers build a batch of any form
 * (store/records/batch/mini_batch.h) with batch_builder.h. Each is a function of its request: the same
 * request gives the same bits.
 *
 * Validation and inference take all neighbours. The exception is validation with a sampler that
 * has_neighborhoods: it takes sample.evaluation_fanouts, drawn as in training.
 *
 * To add a sampler, write <name>_sampler.c with its `const struct sampler <name>_row`, add its row
 * and the rows of its parameters to sampler_list.h, write a test that its choice is unbiased, and
 * make pipelines/guide/reference.md again. tests/tree/tables_agree_test.sh names what was
 * forgotten, and tests/tree/samplers_test.sh names any other place that knows the sampler.
 */
#ifndef STAGES_SAMPLING_SAMPLERS_SAMPLER_H
#define STAGES_SAMPLING_SAMPLERS_SAMPLER_H

#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/sampling/sampler_list.h"

/* The schedule hands one of these to the draw of a mini-batch. */
enum sampler_unit {
    SAMPLER_OF_SEEDS,    /* a share of the epoch's shuffled training nodes */
    SAMPLER_OF_DRAWS,    /* nothing: the sampler draws sample.batch_size nodes or edges itself */
    SAMPLER_OF_CLUSTERS, /* parts_of_batch() of the epoch's shuffled parts */
};

/* The inputs of the bound on the nodes of a subgraph. */
struct subgraph_limits {
    const struct sampler_options *options;
    double draws;        /* of a unit of draws */
    double seeds;        /* most seeds of a mini-batch */
    double largest_part; /* nodes of the largest part */
    double node_count;   /* of the graph */
    double relations;    /* most relations that end in one type */
};

struct sampler {
    const char *name;
    unsigned needs; /* a bit for each enum edge_column that the topology must have */
    enum batch_form form;
    enum sampler_unit unit;
    bool has_neighborhoods; /* validation uses this sampler, too */
    bool has_factors;       /* its batches have factors of edges, and with them degrees */
    bool is_disjoint;       /* a node may be in a batch once for each seed */
    bool refuses_negatives; /* it refuses negative weights of edges */
    bool takes_pairs;       /* it can leave the edges to learn out of rows */
    bool takes_graphs;      /* it draws only nodes of the seeds' graphs */
    bool knows_training;    /* it reads request->graph.is_training */
    /* The rule of the chances of nodes by which it draws; they are computed once for all batches
     * (node_chances.h). NULL: none. */
    const struct chance_rule *chances;
    /* Returns whether walks of request->options must be counted before the first mini-batch
     * (walk_norm.h). NULL: never. */
    bool (*counts_walks)(const struct sampler_options *options);
    /* Returns the number of parts in a mini-batch, for a unit of clusters. */
    int64_t (*parts_of_batch)(const struct sampler_options *options);
    /* Returns the most nodes of a subgraph; in a disjoint batch, of the subgraph of one seed. Only
     * for the form BATCH_SUBGRAPH. */
    double (*most_nodes)(const struct subgraph_limits *limits);
    /* Checks the parameters for a partition of `parts` parts. Fails: ERROR_INVALID naming the
     * setting. NULL: all are valid. */
    enum error_code (*check)(const struct sampler_options *options, int64_t parts,
                             struct error *err);
    /* Checks the parameters for the types and relations of a graph; a book without relations has no
     * names for them. Fails: ERROR_INVALID naming the setting. NULL: all are valid. */
    enum error_code (*check_relations)(const struct sampler_options *options,
                                       const struct partition_book *book, struct error *err);
    /* Returns the parameter that asks for times of nodes, as messages say it, or NULL. NULL: none
     * does. */
    const char *(*asks_node_times)(const struct sampler_options *options);
    /* Messages advise these if counts take too much memory, or if batches have no training node. */
    const char *advice_without_counts, *advice_on_seeds;
    /* Draws the mini-batch of the request, as neighbor_sampler_draw() does. The same request gives
     * the same bits. */
    enum error_code (*draw)(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err);
};

const struct sampler *sampler_of(enum sampler_kind kind);

/* Returns whether each seed sees only edges of its own time or earlier (struct time_limits). */
static inline bool sampler_goes_by_time(const struct sampler *sampler)
{
    return sampler->needs >> EDGE_TIME & 1;
}

enum { SAMPLER_NAMES_SIZE = 256 };
/* Writes the names of the samplers for which `has` returns true, with commas and an "or", into text
 * [SAMPLER_NAMES_SIZE], and returns text. */
const char *sampler_names(bool (*has)(const struct sampler *sampler), char *text);

/* Checks that the topology has the columns that the sampler needs. Fails: ERROR_INVALID naming the
 * missing columns. */
MUST_CHECK enum error_code sampler_check(const struct sampler *sampler,
                                         const struct topology *topology, struct error *err);

#endif
