/*
 * fuzz_small_records - a residual, wanted nodes and the identity of a store from arbitrary
 * sections; what a reader lets through is read to its end. The first byte says which record, the
 * second its version.
 */
#include "store/backends/memory/memory_backend.h"
#include "store/objects/object_store.h"
#include "store/records/dataset/wanted_nodes.h"
#include "store/records/round/residual.h"

#include "tests/fuzz/fuzz_record_view.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VALUES = 5, NODES = 9 };

static const char *const names[] = {"value", "node", "identity"};

static enum error_code read_residual(struct store *store, struct error *err)
{
    struct residual residual;
    const enum error_code rc = residual_get(store, "r", 0, 0, VALUES, &residual, err);
    if (rc != ERROR_NONE)
        return rc;
    must(residual.count == VALUES);
    for (uint64_t i = 0; i < residual.count; i++)
        must(isfinite(residual.value[i]));
    store_release_record(&residual.view);
    return rc;
}

static enum error_code read_wanted_nodes(struct store *store, struct error *err)
{
    struct wanted_nodes wanted;
    const enum error_code rc = wanted_nodes_get(store, "r", NODES, &wanted, err);
    if (rc != ERROR_NONE)
        return rc;
    must(wanted.count >= 1 && wanted.count <= NODES);
    for (uint32_t i = 0; i < wanted.count; i++)
        must(wanted.node[i] < NODES && (i == 0 || wanted.node[i] > wanted.node[i - 1]));
    store_release_record(&wanted.view);
    return rc;
}

/* A damaged identity is replaced by a new one. */
static enum error_code read_identity(struct store *store, struct error *err)
{
    char identity[STORE_IDENTITY_SIZE];
    const enum error_code rc = store_identity(store, identity, err);
    must(rc != ERROR_NONE || strspn(identity, "0123456789abcdef") == STORE_IDENTITY_SIZE - 1);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        enum record_kind kind;
        const char *key, *owner;
        enum error_code (*read)(struct store *store, struct error *err);
    } readers[] = {
        {RECORD_RESIDUAL, NULL, "r", read_residual},
        {RECORD_WANTED_NODES, NULL, "r", read_wanted_nodes},
        {RECORD_STORE_IDENTITY, "identity", "store", read_identity},
    };
    const struct key keys[] = {key_residual("r", 0, 0), key_wanted_nodes("r")};
    static struct store *store;
    struct error err = {0};
    struct record_view view;
    if (size < 2)
        return 0;
    if (!store)
        must(store_open_on(&memory_backend, "fuzz", 0, &store, &err) == ERROR_NONE);
    const size_t which = data[0] % (sizeof readers / sizeof *readers);
    const char *key = readers[which].key ? readers[which].key : keys[which].text;
    fuzz_record_view(data + 2, size - 2, readers[which].kind, names, sizeof names / sizeof *names,
                     &view);
    struct record record = {.kind = readers[which].kind, .version = data[1] % 4};
    for (uint32_t i = 0; i < view.section_count; i++)
        if (element_size(view.section[i].type))
            record_add(&record, view.section[i].name, view.section[i].type, view.section[i].data,
                       view.section[i].count);
    must(store_put(store, key, readers[which].owner, &record, STORE_RECOMPUTABLE, &err) ==
         ERROR_NONE);
    const enum error_code rc = readers[which].read(store, &err);
    must(rc == ERROR_NONE || rc == ERROR_CORRUPT);
    must(store_remove(store, key, &err) == ERROR_NONE);
    fuzz_record_view_release(&view);
    return 0;
}
