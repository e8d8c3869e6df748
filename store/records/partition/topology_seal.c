#include "store/records/partition/topology_seal.h"

#include "store/objects/artifact_cache.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_sections.h"

#include <inttypes.h>
#include <string.h>

enum {
    TOPOLOGY_SEAL_VERSION = 2,
    RELATIONS_VERSION = 3,
    HELD_VERSION = 4,
    DELTA_VERSION = 5,
    TYPED_DELTA_VERSION = 6,
    TYPED_HELD_VERSION = 7,
    ROW_NUMBERS = 3,
    HELD_NUMBERS = 2
};

uint32_t topology_seal_relations(const struct topology_seal *seal)
{
    return seal->relation_count ? seal->relation_count : 1;
}

struct sealed_rows topology_seal_rows(const struct topology_seal *seal, uint32_t relation)
{
    if (seal->relation_count)
        return seal->relation[relation];
    return (struct sealed_rows){seal->first_node, seal->node_count, seal->edge_count};
}

enum error_code topology_seal_put(struct store *store, const char *partition_id, int part,
                                  const struct topology_seal *seal, struct error *err)
{
    const uint64_t counts[4] = {seal->first_node, seal->node_count, seal->edge_count,
                                seal->file_size};
    struct record record = {.kind = RECORD_TOPOLOGY_SEAL, .version = TOPOLOGY_SEAL_VERSION};
    record_add(&record, "counts", ELEMENT_U64, counts, 4);
    edge_sections_add_widths(&record, &seal->width);
    record_add(&record, "file", ELEMENT_U8, seal->file.bytes, sizeof seal->file.bytes);
    uint64_t rows[RELATION_COUNT_MAX * ROW_NUMBERS];
    for (uint32_t r = 0; r < seal->relation_count; r++) {
        rows[(size_t)r * ROW_NUMBERS] = seal->relation[r].first_node;
        rows[(size_t)r * ROW_NUMBERS + 1] = seal->relation[r].node_count;
        rows[(size_t)r * ROW_NUMBERS + 2] = seal->relation[r].edge_count;
    }
    if (seal->relation_count) {
        record.version = RELATIONS_VERSION;
        record_add(&record, "relation", ELEMENT_U64, rows,
                   (uint64_t)seal->relation_count * ROW_NUMBERS);
    }
    uint64_t held[RELATION_COUNT_MAX * HELD_NUMBERS];
    for (uint32_t r = 0; r < topology_seal_relations(seal); r++) {
        held[(size_t)r * HELD_NUMBERS] = seal->held[r].rows;
        held[(size_t)r * HELD_NUMBERS + 1] = seal->held[r].edges;
    }
    if (seal->is_held) {
        record.version = seal->relation_count ? TYPED_HELD_VERSION : HELD_VERSION;
        record_add(&record, "held", ELEMENT_U64, held,
                   (uint64_t)topology_seal_relations(seal) * HELD_NUMBERS);
    }
    if (seal->is_delta) {
        record.version = seal->relation_count ? TYPED_DELTA_VERSION : DELTA_VERSION;
        record_add(&record, "delta", ELEMENT_U64, held,
                   (uint64_t)topology_seal_relations(seal) * HELD_NUMBERS);
        record_add_text(&record, "base", seal->base);
    }
    return store_put(store, key_part(partition_id, part, "topology_seal").text, partition_id,
                     &record, STORE_DURABLE, err);
}

/* Rows inside the part, and edges that are all of it. */
static enum error_code read_rows(const struct record_view *view, struct topology_seal *out,
                                 struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0, edges = 0;
    if (view->version != RELATIONS_VERSION && view->version != TYPED_DELTA_VERSION &&
        view->version != TYPED_HELD_VERSION)
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, "relation", ELEMENT_U64, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (count == 0 || count % ROW_NUMBERS != 0 || count / ROW_NUMBERS > RELATION_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section relation: %" PRIu64
                         " numbers, expected %d for each of 1 to %d relations",
                         view->key, count, ROW_NUMBERS, RELATION_COUNT_MAX);
    out->relation_count = (uint32_t)(count / ROW_NUMBERS);
    for (uint32_t r = 0; r < out->relation_count; r++) {
        const uint64_t *rows = (const uint64_t *)data + (size_t)r * ROW_NUMBERS;
        const uint64_t end = (uint64_t)out->first_node + out->node_count;
        if (rows[0] < out->first_node || rows[0] > end || rows[1] > end - rows[0] ||
            rows[2] > out->edge_count - edges)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section relation: the rows of relation %" PRIu32
                             " are %" PRIu64 " from %" PRIu64 " with %" PRIu64
                             " edges, which are not in the part",
                             view->key, r, rows[1], rows[0], rows[2]);
        edges += rows[2];
        out->relation[r] = (struct sealed_rows){(uint32_t)rows[0], (uint32_t)rows[1], rows[2]};
    }
    if (edges != out->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section relation: %" PRIu64 " edges in all, expected %" PRIu64,
                         view->key, edges, out->edge_count);
    return ERROR_NONE;
}

/* Reads what the file of a part of a vertex cut holds of each relation. */
static enum error_code read_held(const struct record_view *view, struct topology_seal *out,
                                 struct error *err)
{
    const void *data = NULL;
    const uint32_t relations = topology_seal_relations(out);
    if (view->version != HELD_VERSION && view->version != TYPED_HELD_VERSION)
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, "held", ELEMENT_U64,
                                            (int64_t)relations * HELD_NUMBERS, &data, NULL, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        const uint64_t *held = (const uint64_t *)data + (size_t)r * HELD_NUMBERS;
        if (held[0] > UINT32_MAX || held[0] > held[1])
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section held: %" PRIu64 " rows of %" PRIu64
                             " edges, expected at most one for each edge, below 2^32",
                             view->key, held[0], held[1]);
        out->held[r] = (struct sealed_held){(uint32_t)held[0], held[1]};
    }
    out->is_held = rc == ERROR_NONE;
    return rc;
}

/* Reads, for each relation, how many rows and edges of the part the file has. */
static enum error_code read_delta(const struct record_view *view, struct topology_seal *out,
                                  struct error *err)
{
    const void *data = NULL;
    const uint32_t relations = topology_seal_relations(out);
    if (view->version != DELTA_VERSION && view->version != TYPED_DELTA_VERSION)
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, "delta", ELEMENT_U64,
                                            (int64_t)relations * HELD_NUMBERS, &data, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(view, "base", out->base, sizeof out->base, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        const uint64_t *held = (const uint64_t *)data + (size_t)r * HELD_NUMBERS;
        const struct sealed_rows all = topology_seal_rows(out, r);
        if (held[0] > all.node_count || held[1] > all.edge_count)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section delta: %" PRIu64 " rows of %" PRIu64
                             " edges of relation %" PRIu32 ", expected at most the %" PRIu32
                             " of %" PRIu64 " of the part",
                             view->key, held[0], held[1], r, all.node_count, all.edge_count);
        out->held[r] = (struct sealed_held){(uint32_t)held[0], held[1]};
    }
    out->is_delta = rc == ERROR_NONE;
    return rc;
}

enum error_code topology_seal_decode(const struct record_view *view, struct topology_seal *out,
                                     struct error *err)
{
    const void *counts_data = NULL, *file = NULL;
    struct edge_widths width;
    enum error_code rc = record_expect_among(view, RECORD_TOPOLOGY_SEAL, TOPOLOGY_SEAL_VERSION,
                                             TYPED_HELD_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "counts", ELEMENT_U64, 4, &counts_data, NULL, err);
    if (rc == ERROR_NONE)
        rc = edge_sections_get_widths(view, &width, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "file", ELEMENT_U8, sizeof out->file.bytes, &file, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *counts = counts_data;
    if (counts[0] > UINT32_MAX || counts[1] > UINT32_MAX - counts[0])
        return error_set(err, ERROR_CORRUPT, "record %s: section counts: nodes beyond 2^32",
                         view->key);
    *out = (struct topology_seal){.first_node = (uint32_t)counts[0],
                                  .node_count = (uint32_t)counts[1],
                                  .edge_count = counts[2],
                                  .file_size = counts[3],
                                  .width = width};
    memcpy(out->file.bytes, file, sizeof out->file.bytes);
    rc = read_rows(view, out, err);
    if (rc == ERROR_NONE)
        rc = read_held(view, out, err);
    return rc == ERROR_NONE ? read_delta(view, out, err) : rc;
}

enum error_code topology_seal_get(struct store *store, const char *partition_id, int part,
                                  struct topology_seal *out, struct error *err)
{
    struct record_view view;
    enum error_code rc = store_get(store, key_part(partition_id, part, "topology_seal").text,
                                   partition_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = topology_seal_decode(&view, out, err);
    store_release_record(&view);
    return rc;
}

enum error_code topology_seal_verify(struct store *store, const char *partition_id, int part,
                                     struct error *err)
{
    const struct key key = key_part(partition_id, part, "topology");
    char expected[CHECKSUM_TEXT_SIZE], found[CHECKSUM_TEXT_SIZE];
    const struct artifact_request request = {.store = store, .key = key.text};
    struct artifact_handle file = {.path = ""};
    struct topology_seal seal = {0};
    struct checksum sum = {0};
    uint64_t size = 0;
    enum error_code rc = topology_seal_get(store, partition_id, part, &seal, err);
    if (rc == ERROR_NONE)
        rc = artifact_acquire(&request, &file, err);
    if (rc == ERROR_NONE)
        rc = checksum_of_file(file.path, &sum, &size, err);
    artifact_release(&file);
    if (rc != ERROR_NONE || checksum_equal(&sum, &seal.file))
        return rc;
    checksum_text(&seal.file, expected);
    checksum_text(&sum, found);
    return error_set(err, ERROR_CORRUPT, "%s: expected hash %s of %llu bytes, found %s of %llu",
                     key.text, expected, (unsigned long long)seal.file_size, found,
                     (unsigned long long)size);
}
