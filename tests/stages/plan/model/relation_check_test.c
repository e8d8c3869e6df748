#include "common/nn/model.h"
#include "stages/plan/model/relation_check.h"

#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

#include <stdio.h>

static void what_stands_in_the_way_is_named(void **state)
{
    (void)state;
    static struct typed_edges edges;
    static struct dataset_schema schema;
    struct error err = {0};
    struct pipeline_settings settings;
    typed_edges_fill(&edges);
    schema = typed_dataset_schema(&edges);
    pipeline_settings_defaults(&settings);
    settings.ingest.relations = true;
    assert_fails(relation_check(&settings, &schema, &err), ERROR_INPUT,
                 "nodes of type author have no features, and none are learnt for them: add "
                 "author-feat.npy, write `missing_features: degree` below `ingest:`, or "
                 "`embedding: 64`",
                 &err);
    settings.train_step.embedding = 8;
    (void)snprintf(settings.sample.relation_fanouts, sizeof settings.sample.relation_fanouts,
                   "quotes: 3,3");
    assert_fails(relation_check(&settings, &schema, &err), ERROR_INVALID,
                 "expected a relation of the graph, such as writes, found 'quotes'", &err);
    settings.sample.relation_fanouts[0] = '\0';
    settings.train_step.layer.kind = LAYER_RGCN;
    assert_ok(relation_check(&settings, &schema, &err), &err);
    settings.sample.sampler = SAMPLER_GRAPHSAINT_WALK;
    (void)snprintf(settings.sample.option.metapath, sizeof settings.sample.option.metapath, "in");
    assert_fails(relation_check(&settings, &schema, &err), ERROR_INVALID,
                 "sample.metapath: in ends in venue, but the nodes that train are of type paper",
                 &err);
    settings.sample.sampler = SAMPLER_DEFAULT;   /* this sampler has no metapath */
    settings.train_step.layer.option.blocks = 4; /* does not divide the 3 classes */
    assert_fails(relation_check(&settings, &schema, &err), ERROR_INVALID,
                 "layer 2 of the model (rgcn): its 4 blocks do not divide the widths", &err);
    settings.train_step.layer.option.blocks = 0;
    settings.train_step.layer.kind = LAYER_GAT;
    schema.edge_type_count = 3; /* without rev_writes no relation leads to authors */
    assert_fails(relation_check(&settings, &schema, &err), ERROR_INVALID,
                 "declare the reverses of relations (add_reverse)", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_in_the_way_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
