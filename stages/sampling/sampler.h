/*
 * sampler - how mini-batches are drawn: a row of sampler_list.h and a file for each.
 *
 * Samplers of neighbourhoods differ in which edges of a long row are kept. neighbor_sampler.h does
 * the rest: it expands, numbers and deduplicates, and asks a choice (struct neighbor_request) for
 * the positions. Others put a batch of any form (store/records/mini_batch.h) together by
 * batch_builder.h. Each is a function of its request: the same bits for the same one.
 *
 * Validation and inference take all neighbours, but validation of samplers that have neighborhoods
 * takes sample.evaluation_fanouts, drawn as in training.
 *
 * To add one: a file <name>_sampler.c with its `const struct sampler <name>_row`, its row and the
 * rows of its parameters in sampler_list.h, a test that its choice is unbiased, and
 * pipelines/guide/reference.md made anew. tests/tree/tables_agree_test.sh names what was forgotten, and
 * tests/tree/samplers_test.sh any other place that knows the sampler.
 */
#ifndef STAGES_SAMPLING_SAMPLER_H
#define STAGES_SAMPLING_SAMPLER_H

#include "stages/sampling/neighbor_sampler.h"
#include "stages/sampling/sampler_list.h"

/* What the schedule gives a mini-batch. */
enum sampler_unit {
    SAMPLER_OF_SEEDS,    /* its share of the epoch's shuffled training nodes */
    SAMPLER_OF_DRAWS,    /* nothing: it draws sample.batch_size nodes or edges by itself */
    SAMPLER_OF_CLUSTERS, /* so many of the epoch's shuffled parts as parts_of_batch() returns */
};

/* These bound the nodes of a subgraph. */
struct subgraph_limits {
    const struct sampler_options *options;
    double draws;        /* of a unit of draws */
    double seeds;        /* of a mini-batch, at most */
    double largest_part; /* nodes of it */
    double node_count;   /* of the graph */
    double relations;    /* that end in one type, at most */
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
    bool
        takes_pairs; /* the seeds may be the ends of edges to learn, which it leaves out of their rows */
    bool
        takes_graphs; /* it draws no node outside of the seeds' graphs, of which all nodes are seeds */
    bool knows_training; /* it draws by which nodes train: request->graph.is_training */
    /* Chances of nodes that it draws by, made once for all batches (node_chances.h); NULL: none. */
    const struct chance_rule *chances;
    /* Whether walks of request->options are counted before all mini-batches (walk_norm.h); NULL:
     * no. */
    bool (*counts_walks)(const struct sampler_options *options);
    /* Parts of the partition in a mini-batch, of a unit of clusters. */
    int64_t (*parts_of_batch)(const struct sampler_options *options);
    /* Nodes of a subgraph at most; of a disjoint batch, of one seed. Of the form BATCH_SUBGRAPH
     * alone. */
    double (*most_nodes)(const struct subgraph_limits *limits);
    /* Whether the parameters are sound, with so many parts of the partition. Fails: ERROR_INVALID
     * naming the setting. NULL: any are. */
    enum error_code (*check)(const struct sampler_options *options, int64_t parts,
                             struct error *err);
    /* Likewise whether they suit the types and relations of a graph; a book without relations has
     * no names for them. */
    enum error_code (*check_relations)(const struct sampler_options *options,
                                       const struct partition_book *book, struct error *err);
    /* Returns the parameter that asks for times of nodes, as messages say it, or NULL. NULL: none
     * does. */
    const char *(*asks_node_times)(const struct sampler_options *options);
    /* Messages advise these if counts take too much memory, or if batches have no training node. */
    const char *advice_without_counts, *advice_on_seeds;
    /* A mini-batch of the request; as neighbor_sampler_draw(), and the same bits for the same request. */
    enum error_code (*draw)(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err);
};

const struct sampler *sampler_of(enum sampler_kind kind);

/* Whether each seed sees what was there at its time (struct time_limits). */
static inline bool sampler_goes_by_time(const struct sampler *sampler)
{
    return sampler->needs >> EDGE_TIME & 1;
}

enum { SAMPLER_NAMES_SIZE = 256 };
/* The names of those samplers of which `has` is true, with commas and an "or", into text
 * [SAMPLER_NAMES_SIZE]; returns it. */
const char *sampler_names(bool (*has)(const struct sampler *sampler), char *text);

/* Fails: ERROR_INVALID naming the columns that the sampler needs and the topology does not have. */
MUST_CHECK enum error_code sampler_check(const struct sampler *sampler,
                                         const struct topology *topology, struct error *err);

#endif
