/*
 * shadow_sampler - draws a bounded neighbourhood of each seed as a graph of its own, on which a
 * model of any depth computes (Zeng et al., "Decoupling the Depth and Scope of Graph Neural
 * Networks", NeurIPS 2021), as PyG's ShaDowKHopSampler does.
 *
 * The sampler draws `num_neighbors` neighbours of each node that it reaches in fewer than `depth`
 * hops, in each relation, none twice. The subgraph has all edges of the graph among the nodes that
 * were reached. The subgraphs of a batch are disjoint: a node that two seeds reach is in the batch
 * twice. The output for a seed is read from its own row (the paper's and PyG's root readout).
 * Degrees are those in the subgraph.
 */
#include "stages/sampling/rows/distinct_positions.h"
#include "stages/sampling/samplers/sampler.h"
#include "stages/sampling/samplers/subgraph.h"

#include <string.h>

enum { MEMBERS, POSITIONS, BITS, FIRST_MEMBER, LOCALS }; /* the scratch arrays */

struct shadow {
    struct batch_builder *b;
    const struct neighbor_request *request;
    uint32_t *member; /* [member_count]; seed after seed, the seed itself first */
    uint32_t member_count;
    uint32_t *first_member; /* [seeds + 1] */
    uint32_t *local;        /* [member_count] numbers in their types */
};

static enum error_code add_member(struct shadow *s, uint32_t node, struct error *err)
{
    void *data = NULL;
    if (known_nodes_has(s->b->known, node))
        return ERROR_NONE;
    const enum error_code rc = batch_builder_scratch(s->b, MEMBERS, (size_t)s->member_count + 1, 1,
                                                     s->member_count, &data, err);
    if (rc != ERROR_NONE)
        return rc;
    s->member = data;
    s->member[s->member_count++] = node;
    known_nodes_add(s->b->known, node);
    return ERROR_NONE;
}

/* Adds neighbours of a node in a relation that ends in its type. */
static enum error_code reach(struct shadow *s, uint32_t relation, uint32_t node,
                             const struct random_stream *stream, struct error *err)
{
    const int64_t fanout = s->request->options->num_neighbors;
    struct graph_row row;
    void *positions = NULL, *bits = NULL;
    enum error_code rc = graph_row_of_relation(s->b->topology, relation, node, &row, err);
    if (rc != ERROR_NONE || row.length == 0)
        return rc;
    const bool all = fanout == FANOUT_ALL || fanout >= row.length;
    const uint32_t count = all ? row.length : (uint32_t)fanout;
    if (!all) {
        rc = batch_builder_scratch(s->b, POSITIONS, count, 1, 0, &positions, err);
        if (rc == ERROR_NONE)
            rc = batch_builder_scratch(s->b, BITS, distinct_positions_scratch(row.length, count), 2,
                                       0, &bits, err);
        if (rc != ERROR_NONE)
            return rc;
        memset(bits ? bits : positions, 0,
               distinct_positions_scratch(row.length, count) * sizeof(uint64_t));
        distinct_positions_draw(stream, node, row.length, count, bits, positions);
    }
    for (uint32_t k = 0; rc == ERROR_NONE && k < count; k++) {
        uint32_t neighbor = 0;
        rc = graph_row_neighbor(s->b->topology, &row, all ? k : ((uint32_t *)positions)[k],
                                &neighbor, err);
        if (rc == ERROR_NONE)
            rc = add_member(s, neighbor, err);
    }
    return rc;
}

static bool ends_in(const struct shadow *s, uint32_t relation, uint32_t node)
{
    return s->b->lists->relation[relation].target == batch_builder_type(s->b, node);
}

/* Draws the nodes of the subgraph of one seed. */
static enum error_code draw_members(struct shadow *s, uint32_t seed, struct error *err)
{
    const uint32_t depth = (uint32_t)s->request->options->depth;
    uint32_t first = s->member_count;
    known_nodes_forget(s->b->known);
    enum error_code rc = add_member(s, s->request->seed_node[seed], err);
    for (uint32_t hop = 0; rc == ERROR_NONE && hop < depth; hop++) {
        const uint32_t end = s->member_count;
        for (uint32_t r = 0; rc == ERROR_NONE && r < s->b->lists->relation_count; r++) {
            const struct random_stream stream = subgraph_seed_stream(s->request, seed, r, hop);
            for (uint32_t i = first; rc == ERROR_NONE && i < end; i++)
                if (ends_in(s, r, s->member[i]))
                    rc = reach(s, r, s->member[i], &stream, err);
        }
        first = end;
    }
    return rc;
}

static void know_members(const struct shadow *s, uint32_t seed)
{
    known_nodes_forget(s->b->known);
    for (uint32_t i = s->first_member[seed]; i < s->first_member[seed + 1]; i++)
        known_nodes_add(s->b->known, s->member[i]);
}

static enum error_code add_row(struct shadow *s, uint32_t relation, uint32_t seed, uint32_t member,
                               struct error *err)
{
    const uint32_t *local = s->local + s->first_member[seed];
    struct graph_row row;
    enum error_code rc =
        graph_row_of_relation(s->b->topology, relation, s->member[member], &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t neighbor = 0;
        rc = graph_row_neighbor(s->b->topology, &row, k, &neighbor, err);
        if (rc == ERROR_NONE && known_nodes_has(s->b->known, neighbor))
            rc = batch_builder_add_edge(s->b, relation,
                                        local[known_nodes_local(s->b->known, neighbor)],
                                        graph_row_place(&row, k), 1, err);
    }
    return rc == ERROR_NONE ? batch_builder_end_row(s->b, relation, s->local[member], err) : rc;
}

/* Adds the rows of members [first, end) of a seed. */
static enum error_code add_rows(struct shadow *s, uint32_t seed, uint32_t first, uint32_t end,
                                struct error *err)
{
    enum error_code rc = ERROR_NONE;
    know_members(s, seed);
    for (uint32_t i = first; rc == ERROR_NONE && i < end; i++)
        for (uint32_t r = 0; rc == ERROR_NONE && r < s->b->lists->relation_count; r++)
            if (ends_in(s, r, s->member[i]))
                rc = add_row(s, r, seed, i, err);
    return rc;
}

/* Adds nodes and rows: first those of the seeds, then those of the other members, seed after seed.
 * All seeds have one type. */
static enum error_code add_all(struct shadow *s, struct error *err)
{
    const uint32_t seeds = s->request->seed_count, *first = s->first_member;
    void *locals = NULL;
    enum error_code rc =
        batch_builder_scratch(s->b, LOCALS, (size_t)s->member_count + 1, 1, 0, &locals, err);
    s->local = locals;
    for (uint32_t seed = 0; rc == ERROR_NONE && seed < seeds; seed++)
        rc = batch_builder_add_node(s->b, s->request->seed_node[seed], seed, &s->local[first[seed]],
                                    err);
    batch_builder_end_hop(s->b, 0);
    for (uint32_t seed = 0; rc == ERROR_NONE && seed < seeds; seed++)
        for (uint32_t i = first[seed] + 1; rc == ERROR_NONE && i < first[seed + 1]; i++)
            rc = batch_builder_add_node(s->b, s->member[i], seed, &s->local[i], err);
    for (uint32_t seed = 0; rc == ERROR_NONE && seed < seeds; seed++)
        rc = add_rows(s, seed, first[seed], first[seed] + 1, err);
    for (uint32_t seed = 0; rc == ERROR_NONE && seed < seeds; seed++)
        rc = add_rows(s, seed, first[seed] + 1, first[seed + 1], err);
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    struct shadow s = {.request = request};
    void *first = NULL;
    enum error_code rc = neighbor_sampler_builder(sampler, &s.b, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_begin(s.b, request, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_scratch(s.b, FIRST_MEMBER, (size_t)request->seed_count + 1, 1, 0, &first,
                                   err);
    if (rc != ERROR_NONE)
        return rc;
    s.b->is_disjoint = true;
    s.first_member = first;
    for (uint32_t seed = 0; rc == ERROR_NONE && seed < request->seed_count; seed++) {
        s.first_member[seed] = s.member_count;
        rc = draw_members(&s, seed, err);
    }
    s.first_member[request->seed_count] = s.member_count;
    if (rc == ERROR_NONE)
        rc = add_all(&s, err);
    for (int h = 0; h < request->hop_count; h++)
        batch_builder_end_hop(s.b, h + 1);
    return rc == ERROR_NONE ? batch_builder_finish(s.b, request, BATCH_SUBGRAPH, out, err) : rc;
}

static double most_nodes(const struct subgraph_limits *limits)
{
    const int64_t kept = limits->options->num_neighbors;
    double nodes = 1, added = 1;
    for (int64_t hop = 0; hop < limits->options->depth; hop++) {
        added *= kept == FANOUT_ALL ? limits->node_count : (double)kept * limits->relations;
        nodes += added;
    }
    return nodes;
}

static enum error_code check(const struct sampler_options *options, int64_t parts,
                             struct error *err)
{
    (void)parts;
    return options->num_neighbors != 0
               ? ERROR_NONE
               : error_set(err, ERROR_INVALID,
                           "sample.num_neighbors is 0, expected -1 for all, or at least 1");
}

const struct sampler shadow_row = {.name = "shadow",
                                   .form = BATCH_SUBGRAPH,
                                   .is_disjoint = true,
                                   .most_nodes = most_nodes,
                                   .check = check,
                                   .draw = draw};
