#include "pipelines/missing_records.h"

#include "stages/chain.h"
#include "store/keys.h"
#include "store/records/dataset_schema.h"
#include "store/records/snapshot.h"

struct search {
    struct store *store;
    missing_visitor visit;
    void *context;
};

static enum error_code expect(const struct search *search, struct key key, struct error *err)
{
    bool found = false;
    const enum error_code rc = store_has(search->store, key.text, &found, err);
    if (rc == ERROR_NONE && !found)
        search->visit(search->context, key.text);
    return rc;
}

/* The artifact of a seal that is there. */
static enum error_code expect_sealed(const struct search *search, struct key seal,
                                     struct key artifact, struct error *err)
{
    bool found = false;
    const enum error_code rc = store_has(search->store, seal.text, &found, err);
    return rc == ERROR_NONE && found ? expect(search, artifact, err) : rc;
}

static enum error_code search_dataset(const struct search *search, const char *dataset_id,
                                      struct error *err)
{
    struct dataset_schema schema = {0};
    enum error_code rc = expect(search, key_dataset(dataset_id, "schema"), err);
    if (rc != ERROR_NONE ||
        dataset_schema_get(search->store, dataset_id, &schema, NULL) != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; rc == ERROR_NONE && i < schema.edge_chunk_count; i++)
        rc = expect(search, key_edge_chunk(dataset_id, (int64_t)i), err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < schema.feature_chunk_count; i++)
        rc = expect(search, key_feature_chunk(dataset_id, (int64_t)i), err);
    if (rc == ERROR_NONE && schema.task != TASK_NONE)
        rc = expect(search, key_dataset(dataset_id, "labels"), err);
    return rc == ERROR_NONE ? expect(search, key_dataset(dataset_id, "splits"), err) : rc;
}

static enum error_code search_partition(const struct search *search,
                                        const struct partition_book *book, struct error *err)
{
    static const char *const wholes[] = {"assignment", "splits", "report"};
    static const char *const pieces[] = {"topology", "topology_seal", "shard", "shard_seal"};
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof wholes / sizeof *wholes; i++)
        rc = expect(search, key_partition(book->id, wholes[i]), err);
    for (int part = 0; part < book->part_count; part++)
        for (size_t i = 0; rc == ERROR_NONE && i < sizeof pieces / sizeof *pieces; i++)
            rc = expect(search, key_part(book->id, part, pieces[i]), err);
    return rc;
}

static enum error_code search_run(const struct search *search, const struct run_binding *run,
                                  struct error *err)
{
    const char *id = run->plan.id, *tag = run->schedule.outputs_tag;
    struct chain_state state = {0};
    enum error_code rc = chain_state_read(&run->schedule, search->store, id, &state, err);
    if (rc != ERROR_NONE || !state.stopped)
        return rc;
    const int64_t version = state.weights_version;
    for (int layer = 1; layer <= run->schedule.layer_count; layer++)
        for (int part = 0; rc == ERROR_NONE && part < run->book.part_count; part++)
            rc = expect_sealed(search, key_infer(id, version, layer, part, "shard_seal"),
                               key_infer(id, version, layer, part, "shard"), err);
    return rc == ERROR_NONE ? expect_sealed(search, key_outputs_seal(id, version, tag),
                                            key_outputs(id, version, tag), err)
                            : rc;
}

enum error_code missing_records_visit(const struct run_folder *folder, missing_visitor visit,
                                      void *context, struct error *err)
{
    const struct search search = {folder->store, visit, context};
    const struct run_binding *run = &folder->run;
    enum error_code rc = search_dataset(&search, run->book.dataset_id, err);
    if (rc == ERROR_NONE)
        rc = search_partition(&search, &run->book, err);
    return rc == ERROR_NONE ? search_run(&search, run, err) : rc;
}
