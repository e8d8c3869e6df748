/* Finds the partition whose files a version may use as its base. Declared in version_delta.h. */
#include "common/base/text.h"
#include "stages/partition/methods/node_assigner.h"
#include "stages/partition/version_delta.h"
#include "stages/plan/model/identity.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/partition/node_placement.h"
#include "store/records/partition/topology_seal.h"

#include <inttypes.h>
#include <string.h>

/* Replaces `dataset_id` by the dataset that it is a version of; "" for a root. */
static enum error_code step_back(struct store *store, char dataset_id[ID_SIZE], struct error *err)
{
    struct dataset_delta delta;
    const enum error_code rc = dataset_delta_get(store, dataset_id, &delta, err);
    if (rc == ERROR_NOT_FOUND) {
        dataset_id[0] = '\0';
        return ERROR_NONE;
    }
    if (rc == ERROR_NONE)
        (void)text_copy(dataset_id, ID_SIZE, delta.base);
    store_release_record(&delta.view);
    return rc;
}

static enum error_code has_book(struct store *store, const char *partition_id, bool *found,
                                struct error *err)
{
    return store_has(store, key_partition(partition_id, "book").text, found, err);
}

/* Reads the form of the partition's files that are there. *is_whole: they are no delta. */
static enum error_code read_form(const struct stage_context *context, const char *partition_id,
                                 char base[ID_SIZE], bool *is_whole, struct error *err)
{
    const int64_t parts = context->settings->partition.parts;
    enum error_code rc = partition_delta_base(context->store, partition_id, base, err);
    if (rc == ERROR_NONE && !*base)
        rc = node_placement_base(context->store, partition_id, base, err);
    *is_whole = false;
    for (int p = 0; rc == ERROR_NONE && p < parts && !*base && !*is_whole; p++) {
        struct topology_seal seal;
        rc = topology_seal_get(context->store, partition_id, p, &seal, err);
        if (rc == ERROR_NONE) {
            *is_whole = !seal.is_delta;
            (void)text_copy(base, ID_SIZE, seal.base);
        } else if (rc == ERROR_NOT_FOUND) {
            rc = ERROR_NONE;
        }
    }
    return rc;
}

/* Finds the version before `dataset_id` that has the partition out->partition_id. */
static enum error_code find_chosen(const struct stage_context *context, const char *dataset_id,
                                   struct delta_base *out, struct error *err)
{
    char id[ID_SIZE], chosen[ID_SIZE];
    (void)text_copy(chosen, sizeof chosen, out->partition_id);
    (void)text_copy(out->dataset_id, ID_SIZE, dataset_id);
    out->is_chosen = true;
    for (;;) {
        enum error_code rc = step_back(context->store, out->dataset_id, err);
        if (rc == ERROR_NONE && !out->dataset_id[0])
            return error_set(
                err, ERROR_CORRUPT,
                "the partition of %s is a delta of %s, which belongs to no version before it",
                dataset_id, chosen);
        if (rc == ERROR_NONE)
            rc = identity_partition(context->store, context->settings, out->dataset_id, id, err);
        if (rc != ERROR_NONE)
            return rc;
        if (strcmp(id, chosen) == 0)
            return has_book(context->store, chosen, &out->is_there, err);
    }
}

/* Finds the nearest whole partition of a version before; or the nearest version whose partition is
 * missing. */
static enum error_code find_nearest(const struct stage_context *context, const char *dataset_id,
                                    struct delta_base *out, struct error *err)
{
    char base[ID_SIZE];
    (void)text_copy(out->dataset_id, ID_SIZE, dataset_id);
    for (;;) {
        enum error_code rc = step_back(context->store, out->dataset_id, err);
        if (rc != ERROR_NONE || !out->dataset_id[0])
            return rc;
        rc = identity_partition(context->store, context->settings, out->dataset_id,
                                out->partition_id, err);
        if (rc == ERROR_NONE)
            rc = has_book(context->store, out->partition_id, &out->is_there, err);
        if (rc == ERROR_NONE && out->is_there)
            rc = partition_delta_base(context->store, out->partition_id, base, err);
        if (rc != ERROR_NONE || (out->is_there && !*base))
            return rc;
        /* A delta is no base: its own base is further back. */
    }
}

enum error_code delta_base_find(const struct stage_context *context, const char *dataset_id,
                                const char *partition_id, struct delta_base *out, struct error *err)
{
    bool is_whole = false;
    *out = (struct delta_base){.partition_id = ""};
    if (context->settings->partition.update != UPDATE_PLACE ||
        context->settings->partition.compact == 0.0 ||
        partitioner_cuts_vertices(context->settings->partition.method))
        return ERROR_NONE;
    enum error_code rc = read_form(context, partition_id, out->partition_id, &is_whole, err);
    if (rc != ERROR_NONE || is_whole)
        return rc;
    if (out->partition_id[0])
        return find_chosen(context, dataset_id, out, err);
    rc = find_nearest(context, dataset_id, out, err);
    if (!out->dataset_id[0])
        *out = (struct delta_base){.partition_id = ""};
    return rc;
}
