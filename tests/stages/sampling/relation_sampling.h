/* relation_sampling - opens a sampler over the types and relations of typed_dataset.h, in a store
 * of its own. */
#ifndef TESTS_STAGES_SAMPLING_RELATION_SAMPLING_H
#define TESTS_STAGES_SAMPLING_RELATION_SAMPLING_H

#include "stages/sampling/rows/node_chances.h"
#include "stages/sampling/samplers/sampler.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

struct fixture {
    struct temp_store *temp;
    struct partition_book book;
    struct topology topology;
    struct neighbor_sampler *sampler;
    const struct chance_rule *rule; /* the rule of the last sampler, and its tables: */
    struct node_chances *chances;
    uint32_t tables;
    struct error err;
};

/* Writes the topology of partition `id` with these edges, and opens a sampler over the book's
 * types. `f` must not move while the sampler is open. */
static inline void fixture_open(struct fixture *f, void **state, const char *id,
                                const struct typed_edges *edges, const struct partition_book *book,
                                bool has_self_loops)
{
    *f = (struct fixture){.temp = *state, .book = *book};
    typed_topology_write(f->temp->store, id, edges);
    assert_ok(topology_open(f->temp->store, &f->book, &f->topology, &f->err), &f->err);
    assert_ok(topology_open_parts(&f->topology, NULL, &f->err), &f->err);
    const struct neighbor_sampler_config config = {
        .topology = &f->topology, .book = &f->book, .has_self_loops = has_self_loops};
    assert_ok(neighbor_sampler_new(&config, &f->sampler, &f->err), &f->err);
}

/* Adds everything that a sampler may need beside seeds and fan-outs to a request for papers. */
static inline void fixture_fill(struct fixture *f, const struct sampler *sampler,
                                struct neighbor_request *request)
{
    enum { TIMES = 32 };
    static int64_t time[TIMES];
    static const uint64_t training[] = {0, UINT64_C(0xFF00), 0};
    static const uint32_t part = 0;
    must(request->seed_count <= TIMES);
    for (uint32_t i = 0; i < TIMES; i++)
        time[i] = 53 * i % 100;
    request->times.seed_time = time;
    request->part = &part;
    request->part_count = 1;
    request->draw_count = 40;
    request->graph.is_training = training;
    if (f->rule != sampler->chances) {
        node_chances_free(f->chances, f->tables);
        f->chances = NULL;
        f->rule = sampler->chances;
        f->tables = f->rule ? node_chances_tables(f->rule, &f->topology) : 0;
        if (f->rule)
            assert_ok(node_chances_new(f->rule, &f->topology, &f->chances, &f->err), &f->err);
    }
    request->graph.chances = f->chances;
}

static inline void close_fixture(struct fixture *f)
{
    node_chances_free(f->chances, f->tables);
    neighbor_sampler_free(f->sampler);
    topology_close(&f->topology);
}

#endif
