#include "stages/sampling/rows/neighbor_state.h"

#include "common/base/memory.h"
#include "common/graph/relation_reverse.h"

/* Fills the hints. From its hint the part of a node is found in few steps, mostly in none, which is
 * much cheaper than a binary search of the book for each node. */
static void make_hints(struct neighbor_sampler *s)
{
    const uint32_t last = s->topology->node_count ? s->topology->node_count - 1 : 0;
    while (last >> s->hint_shift >> HINT_BITS)
        s->hint_shift++;
    for (uint32_t i = 0; i <= last >> s->hint_shift; i++)
        s->part_hint[i] = (uint32_t)topology_part_of(s->topology, i << s->hint_shift);
}

enum error_code neighbor_sampler_new(const struct neighbor_sampler_config *config,
                                     struct neighbor_sampler **out, struct error *err)
{
    struct neighbor_sampler *sampler = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&sampler, 1, "the neighbour sampler", err);
    if (rc != ERROR_NONE)
        return rc;
    sampler->topology = config->topology;
    sampler->book = config->book;
    sampler->has_self_loops = config->has_self_loops;
    sampler->budget.limit = config->budget_bytes;
    sampler->ranges = config->book
                          ? partition_book_ranges(config->book)
                          : (struct type_ranges){.part_count = config->topology->part_count,
                                                 .type_count = 1,
                                                 .part_start = config->topology->book};
    rc = sampled_lists_init(&sampler->lists, config->book, &sampler->budget, err);
    if (rc == ERROR_NONE)
        rc = known_nodes_init(&sampler->known, &sampler->budget, config->topology->node_count, err);
    if (rc != ERROR_NONE) {
        neighbor_sampler_free(sampler);
        return rc;
    }
    must((uint64_t)config->topology->part_count * sampler->lists.relation_count <
         1U << 24); /* edge_place() */
    sampler->window.known = &sampler->known;
    make_hints(sampler);
    if (config->book && sampler->lists.lists_rows)
        relation_source_degrees(config->book->relation, sampler->lists.relation_count,
                                sampler->back);
    *out = sampler;
    return ERROR_NONE;
}

void neighbor_sampler_free(struct neighbor_sampler *sampler)
{
    if (!sampler)
        return;
    if (sampler->builder)
        batch_builder_release(sampler->builder);
    memory_free(sampler->builder);
    known_nodes_release(&sampler->known, &sampler->budget);
    sampled_lists_release(&sampler->lists);
    growing_array_release(&sampler->degree, &sampler->budget);
    growing_array_release(&sampler->weight_sum, &sampler->budget);
    growing_array_release(&sampler->bits, &sampler->budget);
    memory_free(sampler);
}

enum error_code neighbor_sampler_builder(struct neighbor_sampler *sampler,
                                         struct batch_builder **out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!sampler->builder) {
        rc = memory_new(&sampler->builder, 1, "the builder of mini-batches", err);
        if (rc == ERROR_NONE) {
            batch_builder_init(sampler->builder, sampler, sampler->topology, &sampler->ranges,
                               &sampler->known, &sampler->lists);
            sampler->builder->book = sampler->book;
            sampler->builder->target_type = sampler->book ? sampler->book->target_type : 0;
        }
    }
    *out = sampler->builder;
    return rc;
}

uint64_t neighbor_sampler_bytes(const struct neighbor_sampler *sampler)
{
    return sampler->budget.used + sizeof *sampler +
           sampler->lists.relation_count * sizeof *sampler->lists.relation;
}
