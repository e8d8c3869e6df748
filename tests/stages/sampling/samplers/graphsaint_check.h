/*
 * graphsaint_check - draws many batches and checks the properties of every GraphSAINT sampler:
 *   - a node is in batches as often as the weight of its loss says,
 *   - the weighted losses of a batch add up to those of all training nodes, on average,
 *   - at a node of a batch the sum over its edges equals the sum over all its edges, on average,
 *   - a batch has all edges among its nodes, and no others.
 */
#ifndef TESTS_STAGES_SAMPLING_SAMPLERS_GRAPHSAINT_CHECK_H
#define TESTS_STAGES_SAMPLING_SAMPLERS_GRAPHSAINT_CHECK_H

#include "stages/sampling/samplers/graphsaint.h"

#include "tests/stages/sampling/samplers/sampler_fixture.h"

static inline void graphsaint_check_edges(const struct sampler_fixture *f,
                                          const struct mini_batch *batch)
{
    assert_int_equal(batch->form, BATCH_SUBGRAPH);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        uint32_t expected = 0;
        for (uint32_t k = 0; k < batch->node_count; k++)
            expected += f->linked[batch->node[i]][batch->node[k]];
        assert_int_equal(batch->row_start[i + 1] - batch->row_start[i], expected);
        assert_int_equal(i < batch->seed_count, f->is_training[0] >> batch->node[i] & 1);
        for (uint32_t e = batch->row_start[i]; e < batch->row_start[i + 1]; e++)
            assert_true(f->linked[batch->node[i]][batch->node[batch->neighbor[e]]]);
        if (batch->edge_factor)
            assert_int_equal(batch->degree[i], f->degree[batch->node[i]]);
    }
}

/* Checks many batches. `mean` is the mean chance of training nodes; `slack` is the error allowed in
 * weights and factors that were counted. */
static inline void graphsaint_check(struct sampler_fixture *f, const struct sampler *sampler,
                                    const struct neighbor_request *like, double mean,
                                    uint32_t draws, double slack)
{
    struct estimate loss = {0}, sum[FIXTURE_NODES] = {{0}}, there[FIXTURE_NODES] = {{0}};
    double weight[FIXTURE_NODES] = {0}, all = 0;
    struct error err = {0};
    for (uint32_t i = 0; i < draws; i++) {
        struct neighbor_request request = *like;
        struct mini_batch batch;
        double own = 0;
        bool is_there[FIXTURE_NODES] = {false};
        request.round = i;
        assert_ok(sampler->draw(f->sampler, &request, &batch, &err), &err);
        graphsaint_check_edges(f, &batch);
        for (uint32_t k = 0; k < batch.node_count; k++) {
            double row = 0;
            for (uint32_t e = batch.row_start[k]; e < batch.row_start[k + 1]; e++)
                row += (double)batch.edge_factor[e] * f->x[batch.node[batch.neighbor[e]]];
            estimate_add(&sum[batch.node[k]], row);
            is_there[batch.node[k]] = true;
            if (k < batch.seed_count) {
                weight[batch.node[k]] = (double)batch.seed_weight[k];
                own += (double)batch.seed_weight[k] * f->x[batch.node[k]];
            }
        }
        for (uint32_t v = 0; v < FIXTURE_NODES; v++)
            estimate_add(&there[v], is_there[v]);
        estimate_add(&loss, own / (mean * f->train_count));
    }
    for (uint32_t v = 0; v < FIXTURE_NODES; v++) {
        estimate_check(&sum[v], f->sum[v], slack, "sum at node", v);
        if (f->is_training[0] >> v & 1) {
            estimate_check(&there[v], mean / weight[v], slack, "node", v);
            all += f->x[v];
        }
    }
    estimate_check(&loss, all / f->train_count, slack, "loss", 0);
}

/* Runs the two tests of a sampler whose chances have a closed form. */
static inline void graphsaint_check_closed_form(enum sampler_kind kind)
{
    enum { DRAWS = 40000 };
    const struct sampler *sampler = sampler_of(kind);
    struct sampler_fixture f;
    sampler_fixture_open(&f);
    const struct neighbor_request request = sampler_fixture_request(&f, sampler, 0);
    f.chances->mean = graphsaint_mean(f.chances, request.draw_count, f.train, f.train_count);
    graphsaint_check(&f, sampler, &request, f.chances->mean, DRAWS, 0.005);
    sampler_fixture_close(&f);
}

static inline void graphsaint_check_without_training_nodes(enum sampler_kind kind)
{
    static const uint64_t none[1] = {0};
    const struct sampler *sampler = sampler_of(kind);
    struct sampler_fixture f;
    struct mini_batch batch;
    struct error err = {0};
    sampler_fixture_open(&f);
    struct neighbor_request request = sampler_fixture_request(&f, sampler, 0);
    request.graph.is_training = none;
    assert_ok(sampler->draw(f.sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.seed_count, 1);
    assert_true(batch.seed_weight[0] == 0); /* the batch teaches nothing */
    sampler_fixture_close(&f);
}

#endif
