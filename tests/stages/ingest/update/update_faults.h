/* update_faults - makes the n-th store call of an update fail, for each n. */
#ifndef TESTS_STAGES_INGEST_UPDATE_UPDATE_FAULTS_H
#define TESTS_STAGES_INGEST_UPDATE_UPDATE_FAULTS_H

#include "stages/ingest/update/dataset_versions.h"
#include "stages/plan/model/identity.h"
#include "store/objects/keys.h"

#include "tests/stages/fault_walk.h"
#include "tests/support/test.h"

struct faulty_update {
    struct version_place place; /* its root is "...-0000" */
    struct update_request request;
    char id[ID_SIZE];
};

static inline enum error_code faulty_update_attempt(void *context, struct error *err)
{
    struct faulty_update *update = context;
    bool unchanged = false;
    return dataset_versions_update(&update->place, &update->request, update->id, &unchanged, err);
}

/* Removes the version that was made, and the refs that name it. */
static inline void faulty_update_undo(void *context)
{
    static const char *const names[] = {"schema",
                                        "delta",
                                        "merge",
                                        "labels",
                                        "splits",
                                        "edge_splits",
                                        "node_ids",
                                        "graphs",
                                        "edges/0000000000",
                                        "features/0000000000",
                                        "features/0000000001",
                                        "features/0000000002"};
    const struct faulty_update *update = context;
    struct error err = {0};
    for (size_t i = 0; update->id[0] && i < sizeof names / sizeof *names; i++)
        assert_ok(store_remove(update->place.store, key_dataset(update->id, names[i]).text, &err),
                  &err);
    assert_ok(store_switch_remove(update->place.store, "current/version/0000", &err), &err);
    assert_ok(store_switch_remove(update->place.store, "current/next/0000", &err), &err);
    if (update->id[0])
        assert_ok(store_switch_remove(update->place.store,
                                      key_current("id", identity_digits_of(update->id)).text, &err),
                  &err);
}

/* Walks through the faults. The store of update->place must count its calls (store_faults.h). */
static inline void faulty_update_walk(struct faulty_update *update)
{
    struct fault_walk walk = {.context = update,
                              .store = update->place.store,
                              .prefix = "dataset",
                              .attempt = faulty_update_attempt,
                              .undo = faulty_update_undo};
    fault_walk_all(&walk);
}

#endif
