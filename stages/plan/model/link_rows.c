#include "stages/plan/model/link_rows.h"

#include "common/base/memory.h"
#include "stages/plan/settings/type_shares.h"

#include <inttypes.h>
#include <string.h>

static enum error_code open_type(struct link_rows *rows, const struct link_rows_config *config,
                                 uint32_t type, uint64_t budget_bytes, struct error *err)
{
    char tensor[TENSOR_NAME_SIZE];
    layer_tensor_of_type(type, tensor);
    const struct feature_source_config source = {
        .store = config->store,
        .origin = FEATURES_OF_INFER_LAYER,
        .id = config->run_id,
        .layer = config->layer,
        .weights = config->weights,
        .part_count = config->ends->ranges.part_count,
        .book = pair_ends_book(config->ends, type),
        .tensor = tensor,
        .budget_bytes = budget_bytes,
        .sharers = config->sharers,
        .pool = config->pool,
    };
    const enum error_code rc = feature_source_open(&source, &rows->source[type], err);
    if (rc == ERROR_NONE && feature_source_dim(rows->source[type]) != rows->dim)
        return error_set(err, ERROR_CORRUPT,
                         "layer %d of run %s: expected rows of %" PRIu32 " values, found %" PRIu32,
                         config->layer, config->run_id, rows->dim,
                         feature_source_dim(rows->source[type]));
    return rc;
}

enum error_code link_rows_open(struct link_rows *rows, const struct link_rows_config *config,
                               struct error *err)
{
    const uint32_t types = config->ends->ranges.type_count;
    uint64_t bytes[RELATION_TYPE_COUNT_MAX] = {0}, share[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    *rows = (struct link_rows){.ends = config->ends, .dim = config->dim};
    for (uint32_t t = 0; t < types; t++)
        bytes[t] = (uint64_t)pair_ends_count(config->ends, t) * config->dim * sizeof(float);
    type_shares(bytes, types, config->budget_bytes, share);
    if (types == 1)
        share[0] = config->budget_bytes;
    for (uint32_t t = 0; rc == ERROR_NONE && t < types; t++)
        if (bytes[t])
            rc = open_type(rows, config, t, share[t], err);
    return rc;
}

void link_rows_close(struct link_rows *rows)
{
    for (int t = 0; t < RELATION_TYPE_COUNT_MAX; t++)
        feature_source_close(rows->source[t]);
    memory_free(rows->number);
    memory_free(rows->place);
    *rows = (struct link_rows){0};
}

/* Fetches rows of nodes of one type, by number, and writes row i to place[i]; place NULL: row after
 * row. */
static enum error_code fetch_type(const struct link_rows *rows, uint32_t type,
                                  const uint32_t *number, const uint32_t *place, size_t count,
                                  float *out, struct error *err)
{
    struct feature_rows found;
    const enum error_code rc = feature_source_fetch(rows->source[type], number, count, &found, err);
    if (rc == ERROR_NONE && !place)
        feature_rows_copy(&found, count, out);
    for (size_t i = 0; rc == ERROR_NONE && place && i < count; i++)
        memcpy(out + (size_t)place[i] * rows->dim, feature_row(&found, i), rows->dim * sizeof *out);
    return rc;
}

enum error_code link_rows_fetch(struct link_rows *rows, const uint32_t *node, size_t count,
                                float *out, struct error *err)
{
    static const char what[] = "the rows of pairs";
    const struct pair_ends *ends = rows->ends;
    if (rows->compute)
        return rows->compute(rows->context, node, count, out, err);
    if (ends->ranges.type_count == 1)
        return fetch_type(rows, 0, node, NULL, count, out, err);
    enum error_code rc = memory_grow(&rows->number, &rows->number_capacity, count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&rows->place, &rows->place_capacity, count, what, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < ends->ranges.type_count; t++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++) {
            if (pair_ends_type_of(ends, node[i]) != t)
                continue;
            rows->place[found] = (uint32_t)i;
            rows->number[found++] =
                type_ranges_number(&ends->ranges, pair_ends_book(ends, t), t, node[i]);
        }
        if (found)
            rc = fetch_type(rows, t, rows->number, rows->place, found, out, err);
    }
    return rc;
}

enum error_code link_rows_read(struct link_rows *rows, uint32_t type, uint32_t first, uint32_t end,
                               float *out, struct error *err)
{
    if (!rows->compute)
        return feature_source_read(rows->source[type], first, end, out, err);
    const enum error_code rc =
        memory_grow(&rows->number, &rows->number_capacity, end - first, "the rows of pairs", err);
    for (uint32_t i = first; rc == ERROR_NONE && i < end; i++)
        rows->number[i - first] = pair_ends_node(rows->ends, type, i);
    return rc == ERROR_NONE ? rows->compute(rows->context, rows->number, end - first, out, err)
                            : rc;
}
