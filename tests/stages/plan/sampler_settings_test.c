/* Settings that are right for one sampler and wrong for another. */
#include "stages/plan/settings/pipeline_settings.h"

#include "tests/support/test.h"

enum { SETTINGS_MAX = 4 };

static const struct {
    const char *set[SETTINGS_MAX][2];
    const char *message; /* NULL: they are accepted */
} trials[] = {
    {{{"sample.sampler", "cluster_gcn"}, {"sample.clusters", "4"}}, NULL},
    {{{"sample.sampler", "cluster_gcn"}, {"sample.clusters", "5"}},
     "sample.clusters is 5, expected at most the 4 of partition.parts, which are the clusters"},
    {{{"sample.sampler", "neighbor"}, {"sample.clusters", "5"}}, NULL},
    {{{"sample.sampler", "shadow"}, {"sample.num_neighbors", "-1"}}, NULL},
    {{{"sample.sampler", "shadow"}, {"sample.num_neighbors", "0"}},
     "sample.num_neighbors is 0, expected -1 for all, or at least 1"},
    {{{"sample.sampler", "graphsaint_edge"}, {"train-step.model", "mlp"}, {"sample.fanouts", ""}},
     "sample.sampler is graphsaint_edge, which draws subgraphs, but no layer of the model reads "
     "neighbours"},
    {{{"sample.sampler", "ladies"}, {"train-step.model", "mlp"}, {"sample.fanouts", ""}}, NULL},
    {{{"sample.sampler", "ladies"}, {"ingest.relations", "true"}}, NULL},
    {{{"sample.sampler", "graphsaint_node"}, {"ingest.relations", "true"}}, NULL},
    {{{"sample.sampler", "graphsaint_walk"},
      {"ingest.relations", "true"},
      {"sample.metapath", "[a, b]"}},
     NULL},
    {{{"sample.sampler", "graphsaint_walk"}, {"sample.metapath", "[a, b]"}},
     "sample.metapath is '[a, b]', but ingest.relations is false: write `relations: true` below "
     "`ingest:`, or remove the line"},
    {{{"sample.sampler", "temporal_neighbor"},
      {"ingest.relations", "true"},
      {"ingest.task", "link_prediction"},
      {"ingest.edge_split", "time 80/10/10"}},
     NULL},
    {{{"sample.sampler", "temporal_neighbor"}, {"sample.seed_time", "node"}},
     "sample.seed_time is node, but ingest.node_times is empty"},
    {{{"sample.sampler", "temporal_neighbor"},
      {"sample.seed_time", "node"},
      {"ingest.node_times", "/x/times.csv"}},
     NULL},
};

static void what_a_sampler_cannot_do_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct pipeline_settings settings;
        struct error err = {0};
        pipeline_settings_defaults(&settings);
        assert_ok(pipeline_settings_assign(&settings, "name", "x", "test", &err), &err);
        assert_ok(pipeline_settings_assign(&settings, "ingest.path", "/x", "test", &err), &err);
        assert_ok(pipeline_settings_assign(&settings, "partition.parts", "4", "test", &err), &err);
        for (int k = 0; k < SETTINGS_MAX && trials[i].set[k][0]; k++)
            assert_ok(pipeline_settings_assign(&settings, trials[i].set[k][0], trials[i].set[k][1],
                                               "test", &err),
                      &err);
        if (trials[i].message)
            assert_fails(pipeline_settings_check(&settings, &err), ERROR_INVALID, trials[i].message,
                         &err);
        else
            assert_ok(pipeline_settings_check(&settings, &err), &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_sampler_cannot_do_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
