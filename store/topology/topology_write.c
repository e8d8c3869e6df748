/*
 * Writes the file of a part: builds it in scratch, reads it back, publishes and seals it. Declared
 * in topology.h.
 */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "store/objects/keys.h"
#include "store/topology/topology.h"
#include "store/topology/topology_artifact.h"
#include "store/topology/topology_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { BUILD_ATTEMPTS = 3 };

/* Computes the sums of weights. *out is NULL without weights. */
static enum error_code sum_weights(const struct topology_arrays *from, float **out,
                                   struct error *err)
{
    *out = NULL;
    if (!from->columns.data[EDGE_WEIGHT])
        return ERROR_NONE;
    const enum error_code rc = memory_new(out, from->node_count, "sums of weights", err);
    if (rc == ERROR_NONE)
        topology_arrays_sum_weights(from, *out);
    return rc;
}

static void list_arrays(uint32_t relation, const struct topology_arrays *from,
                        const float *weight_sum, struct topology_array out[TOPOLOGY_ARRAY_COUNT])
{
    topology_arrays_describe(relation, from->node_count, from->edge_count, &from->columns.width,
                             out);
    out[TOPOLOGY_ROW_START].data = (const char *)from->row_start;
    out[TOPOLOGY_NEIGHBOR].data = (const char *)from->neighbor;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        out[TOPOLOGY_FIRST_COLUMN + c].data = from->columns.data[c];
    out[TOPOLOGY_WEIGHT_SUM].data = (const char *)weight_sum;
}

/* The content of a part's file. */
struct part_arrays {
    uint32_t first_node, node_count;
    const struct topology_arrays *relation; /* [relation_count] */
    uint32_t relation_count;
    float **weight_sum;           /* [relation_count], each NULL without weights */
    struct topology_array *array; /* [array_count] */
    int array_count;
    struct topology_seal seal; /* complete but for the file */
};

/* Sets the relations of the seal; none if a single relation has all rows. */
static void seal_relations(struct topology_seal *seal, uint32_t relation_count)
{
    const bool is_plain = relation_count == 1 && seal->relation->first_node == seal->first_node &&
                          seal->relation->node_count == seal->node_count;
    seal->relation_count = is_plain ? 0 : relation_count;
}

static void describe_seal(struct part_arrays *part)
{
    part->seal = (struct topology_seal){.first_node = part->first_node,
                                        .node_count = part->node_count,
                                        .width = part->relation->columns.width};
    for (uint32_t r = 0; r < part->relation_count; r++) {
        const struct topology_arrays *rows = &part->relation[r];
        part->seal.relation[r] =
            (struct sealed_rows){rows->first_node, rows->node_count, rows->edge_count};
        part->seal.edge_count += rows->edge_count;
    }
    seal_relations(&part->seal, part->relation_count);
}

static enum error_code seal_of(const struct part_arrays *part, const char *path,
                               struct topology_seal *out, struct error *err)
{
    *out = part->seal;
    return checksum_of_file(path, &out->file, &out->file_size, err);
}

/* Compares an array with what is read through LMDB again: a hash of the file alone would also seal
 * what LMDB wrote wrongly. */
static enum error_code compare_array(const struct topology_file *file,
                                     const struct topology_array *array, struct error *err)
{
    const char **chunk = NULL;
    enum error_code rc = topology_file_chunks(file, array, &chunk, err);
    must(rc != ERROR_NONE || chunk);
    for (uint64_t i = 0; rc == ERROR_NONE && i < topology_array_chunks(array); i++)
        if (memcmp(chunk[i], topology_array_at(array, i), topology_array_chunk_bytes(array, i)) !=
            0)
            rc = error_set(err, ERROR_CORRUPT,
                           "chunk %s/%05" PRIu64 ": expected the array, found other bytes",
                           array->name, i);
    memory_free(chunk);
    return rc;
}

static enum error_code read_back(const char *path, const struct part_arrays *part,
                                 struct error *err)
{
    struct topology_file file;
    enum error_code rc = topology_file_open(path, &file, err);
    for (int a = 0; rc == ERROR_NONE && a < part->array_count; a++)
        rc = compare_array(&file, &part->array[a], err);
    topology_file_close(&file);
    return rc;
}

/* Writes the file, reads it back and seals it. A file that does not read back is removed and
 * written again. */
static enum error_code build(const struct part_arrays *part, const char *path,
                             struct topology_seal *seal, struct error *err)
{
    enum error_code rc = ERROR_IO;
    for (int i = 0; (rc == ERROR_IO || rc == ERROR_CORRUPT) && i < BUILD_ATTEMPTS; i++) {
        (void)unlink(path);
        rc = topology_file_write(path, part->array, part->array_count, err);
        if (rc == ERROR_NONE)
            rc = seal_of(part, path, seal, err);
        if (rc == ERROR_NONE)
            rc = read_back(path, part, err);
    }
    /* No other process has touched the file, so a mismatch is a fault of this host. */
    if (rc == ERROR_CORRUPT || rc == ERROR_NOT_FOUND)
        rc = error_context(err, ERROR_IO, "does not read back as it was written");
    return rc;
}

/* Returns in *otherwise whether a stored seal describes another file than ours. */
static enum error_code is_sealed_otherwise(struct store *store, const char *partition_id, int part,
                                           const struct topology_seal *seal, bool *otherwise,
                                           struct error *err)
{
    struct topology_seal stored;
    const enum error_code rc = topology_seal_get(store, partition_id, part, &stored, err);
    *otherwise = rc == ERROR_NONE && !checksum_equal(&stored.file, &seal->file);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Compares the stored artifact with what was written. */
static enum error_code check_stored(struct store *store, const char *artifact,
                                    const struct topology_seal *seal, struct error *err)
{
    struct artifact_handle file;
    const enum error_code rc = topology_artifact_acquire(store, artifact, seal, &file, err);
    if (rc == ERROR_NONE)
        artifact_release(&file);
    return rc;
}

/* Moves the file to its key. An equal file that is there stays. One that differs is replaced (a
 * power cut or a disk damaged it), unless its seal describes another file than ours: then putting
 * our seal fails, which is the alarm. */
static enum error_code publish(struct store *store, const char *partition_id, int part,
                               const char *path, const struct topology_seal *seal,
                               struct error *err)
{
    const struct key artifact = key_part(partition_id, part, "topology");
    bool existed = false, otherwise = false;
    enum error_code rc = check_stored(store, artifact.text, seal, err);
    if (rc == ERROR_NONE)
        return rc;
    if (rc == ERROR_CORRUPT) {
        rc = is_sealed_otherwise(store, partition_id, part, seal, &otherwise, err);
        if (rc != ERROR_NONE || otherwise)
            return rc;
        rc = store_remove(store, artifact.text, err);
    }
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND)
        rc = store_publish(store, path, artifact.text, &existed, err);
    return rc == ERROR_NONE && existed ? check_stored(store, artifact.text, seal, err) : rc;
}

/* Lists all arrays, and computes the sums of weights. */
static enum error_code describe(struct part_arrays *part, struct error *err)
{
    const uint32_t count = part->relation_count;
    part->array_count = (int)count * TOPOLOGY_ARRAY_COUNT;
    describe_seal(part);
    enum error_code rc = memory_new(&part->weight_sum, count, "the arrays of a part", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&part->array, (size_t)part->array_count, "the arrays of a part", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < count; r++) {
        const struct topology_arrays *rows = &part->relation[r];
        must(rows->row_start[0] == 0 && rows->row_start[rows->node_count] == rows->edge_count);
        must(rows->edge_count >> TOPOLOGY_CHUNK_SHIFT < TOPOLOGY_CHUNK_COUNT_MAX);
        must(edge_widths_equal(&rows->columns.width, &part->relation->columns.width));
        rc = sum_weights(rows, &part->weight_sum[r], err);
        list_arrays(r, rows, part->weight_sum[r], part->array + (size_t)r * TOPOLOGY_ARRAY_COUNT);
    }
    return rc;
}

static void release(struct part_arrays *part)
{
    for (uint32_t r = 0; part->weight_sum && r < part->relation_count; r++)
        memory_free(part->weight_sum[r]);
    memory_free(part->weight_sum);
    memory_free(part->array);
}

static enum error_code write_part(struct store *store, const char *partition_id, int part,
                                  const struct part_arrays *arrays, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    struct topology_seal seal = {0};
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_path(path, err, "%s/topology", scratch);
    if (rc == ERROR_NONE)
        rc = build(arrays, path, &seal, err);
    if (rc == ERROR_NONE)
        rc = publish(store, partition_id, part, path, &seal, err);
    if (rc == ERROR_NONE)
        rc = topology_seal_put(store, partition_id, part, &seal, err);
    const enum error_code removed = file_remove_all(scratch, rc == ERROR_NONE ? err : NULL);
    return rc == ERROR_NONE ? removed : rc;
}

enum error_code topology_write_relations(struct store *store, const char *partition_id, int part,
                                         uint32_t first_node, uint32_t node_count,
                                         const struct topology_arrays *relation,
                                         uint32_t relation_count, struct error *err)
{
    struct part_arrays arrays = {.first_node = first_node,
                                 .node_count = node_count,
                                 .relation = relation,
                                 .relation_count = relation_count};
    enum error_code rc = describe(&arrays, err);
    if (rc == ERROR_NONE)
        rc = write_part(store, partition_id, part, &arrays, err);
    release(&arrays);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "topology of part %d", part);
}

enum error_code topology_write(struct store *store, const char *partition_id, int part,
                               const struct topology_arrays *arrays, struct error *err)
{
    return topology_write_relations(store, partition_id, part, arrays->first_node,
                                    arrays->node_count, arrays, 1, err);
}

/* Lists the arrays of a relation in `array` [TOPOLOGY_HELD_ARRAY_COUNT]. */
static void list_held(uint32_t relation, const struct topology_held *held,
                      struct topology_array *array)
{
    must(held->row_start[0] == 0 && held->row_start[held->row_count] == held->edge_count);
    topology_arrays_describe_held(relation, held->row_count, held->edge_count, &held->columns.width,
                                  array);
    array[TOPOLOGY_ROW_START].data = (const char *)held->row_start;
    array[TOPOLOGY_NEIGHBOR].data = (const char *)held->neighbor;
    array[TOPOLOGY_ROW_NODE].data = (const char *)held->row_node;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        array[TOPOLOGY_FIRST_COLUMN + c].data = held->columns.data[c];
}

static void seal_held(struct topology_seal *seal, uint32_t relation,
                      const struct topology_held *held)
{
    must(edge_widths_equal(&seal->width, &held->columns.width));
    seal->relation[relation] =
        (struct sealed_rows){held->first_node, held->node_count, held->own_edge_count};
    seal->held[relation] = (struct sealed_held){held->row_count, held->edge_count};
    seal->edge_count += held->own_edge_count;
}

/* Writes the part of a delta; of a vertex cut if other->base is NULL. */
static enum error_code write_held(struct store *store, const char *partition_id, int part,
                                  const struct topology_other *other, struct error *err)
{
    const uint32_t count = other->relation_count;
    struct part_arrays arrays = {
        .array_count = (int)count * TOPOLOGY_HELD_ARRAY_COUNT,
        .seal = {.first_node = other->first_node,
                 .node_count = other->node_count,
                 .width = other->relation->columns.width,
                 .is_held = !other->base,
                 .is_delta = other->base != NULL},
    };
    must(!other->base || text_copy(arrays.seal.base, sizeof arrays.seal.base, other->base));
    enum error_code rc =
        memory_new(&arrays.array, (size_t)arrays.array_count, "the arrays of a part", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < count; r++) {
        list_held(r, &other->relation[r], arrays.array + (size_t)r * TOPOLOGY_HELD_ARRAY_COUNT);
        seal_held(&arrays.seal, r, &other->relation[r]);
    }
    seal_relations(&arrays.seal, count);
    if (rc == ERROR_NONE)
        rc = write_part(store, partition_id, part, &arrays, err);
    memory_free(arrays.array);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "topology of part %d", part);
}

enum error_code topology_write_held(struct store *store, const char *partition_id, int part,
                                    uint32_t first_node, uint32_t node_count,
                                    const struct topology_held *relation, uint32_t relation_count,
                                    struct error *err)
{
    const struct topology_other other = {.first_node = first_node,
                                         .node_count = node_count,
                                         .relation = relation,
                                         .relation_count = relation_count};
    return write_held(store, partition_id, part, &other, err);
}

enum error_code topology_write_delta(struct store *store, const char *partition_id, int part,
                                     const struct topology_other *other, struct error *err)
{
    must(other->base);
    return write_held(store, partition_id, part, other, err);
}
