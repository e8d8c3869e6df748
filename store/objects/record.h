/*
 * record - the one format for all bytes that pass between programs.
 *
 * A record is immutable, named by its key, and checks itself: a reader notices bytes that are torn
 * or flipped, of another kind, version or run, or stored under the wrong name.
 *
 *   offset size
 *      0    8   magic "GRPHMILL"
 *      8    4   kind (enum record_kind)
 *     12    4   format version of the kind
 *     16    8   length of the whole record in bytes
 *     24    4   section count
 *     28    4   zero
 *     32   16   owner: XXH3-128 of the id of the dataset, partition or run it belongs to
 *     48   16   key: XXH3-128 of its key
 *     64   16   content: XXH3-128 of all bytes from 128 to the end
 *     80   40   environment: what the bits depend on, as text padded with NUL
 *    120    8   XXH3-64 of bytes 0 to 119
 *    128   32 x section count: the section table
 *               name [16] NUL-padded, element type u32, zero u32, element count u64
 *    ...        the sections in table order, each starting at a multiple of 64 bytes, gaps zero
 *
 * All numbers are little-endian. Two records have the same bits if their content hashes are equal;
 * the environment is not part of the hash. A kind may get more sections under a new version; a
 * reader refuses a version that it does not know.
 */
#ifndef STORE_OBJECTS_RECORD_H
#define STORE_OBJECTS_RECORD_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/numbers/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* These numbers are stored: add new ones, never renumber. */
enum record_kind {
    RECORD_UNKNOWN = 0,
    RECORD_DATASET_SCHEMA = 1,
    RECORD_EDGE_CHUNK = 2,
    RECORD_FEATURE_CHUNK = 3,
    RECORD_NODE_LABELS = 4,
    RECORD_NODE_SPLITS = 5,
    RECORD_NODE_IDS = 6,
    RECORD_ASSIGNMENT = 7,
    RECORD_PARTITION_BOOK = 8,
    RECORD_TOPOLOGY_SEAL = 9,
    RECORD_SHARD_SEAL = 10,
    RECORD_PARTITION_REPORT = 11,
    RECORD_RUN_PLAN = 12,
    RECORD_MINI_BATCH = 13,
    RECORD_GRADIENT = 14,
    RECORD_WEIGHTS = 15,
    RECORD_OPTIMIZER_STATE = 16,
    RECORD_EVALUATION = 17,
    RECORD_SNAPSHOT = 18,
    RECORD_OUTPUTS_SEAL = 19,
    RECORD_STORE_IDENTITY = 20,
    RECORD_NODE_PERMUTATION = 21,
    RECORD_EDGE_SPLITS = 22,
    RECORD_FEATURE_STATISTICS = 23,
    RECORD_EMBEDDING_ROWS = 24,
    RECORD_WALK_COUNTS = 25,
    RECORD_WANTED_NODES = 26,
    RECORD_GRAPH_INDEX = 27,
    RECORD_GRADIENT_RANGE = 28,
    RECORD_RESIDUAL = 29,
    RECORD_DATASET_DELTA = 30,
    RECORD_NODE_COLUMNS = 31,
    RECORD_ROUND_BASE = 32,
    RECORD_PASS_OUTPUT = 33,
    RECORD_PASS_GRADIENT = 34,
    RECORD_PARTITION_DELTA = 35,
    RECORD_DATASET_MERGE = 36,
    RECORD_NODE_PLACEMENT = 37,
    RECORD_NODE_TIMES = 38,
    RECORD_KIND_COUNT
};

/* Returns "mini_batch", ...; "unknown" for any other number. */
const char *record_kind_name(enum record_kind kind);

enum { RECORD_SECTION_NAME_SIZE = 16, RECORD_SECTION_COUNT_MAX = 28, RECORD_HEADER_SIZE = 128 };

struct record_section {
    char name[RECORD_SECTION_NAME_SIZE];
    enum element_type type;
    uint64_t count;
    const void *data; /* borrowed */
};

/* A record to be written: {.kind, .version}, and sections that borrow the caller's arrays. */
struct record {
    enum record_kind kind;
    uint32_t version;
    uint32_t section_count;
    struct record_section section[RECORD_SECTION_COUNT_MAX];
};

/* Adds a section that borrows `data`, which must not change until the record is stored. */
void record_add(struct record *record, const char *name, enum element_type type, const void *data,
                uint64_t count);
/* Adds a section of text, without its NUL. */
void record_add_text(struct record *record, const char *name, const char *text);

/* Returns the content hash that the record will have once written. */
struct checksum record_content_sum(const struct record *record);

/* A record that was read. The view owns the bytes; release it with store_release_record(). */
struct record_view {
    const uint8_t *data; /* [size], 64-byte aligned */
    size_t size;
    enum record_kind kind;
    uint32_t version;
    uint32_t section_count;
    struct checksum content;
    char environment[41];
    char key[200];
    bool mapped; /* tells store_release_record() how to free the bytes */
    struct record_section section[RECORD_SECTION_COUNT_MAX];
};

/* Checks header, hashes, lengths and table of `data` [size] and fills *view, which borrows it.
 * `owner_id` NULL accepts any owner. Fails: ERROR_CORRUPT naming the key, the byte offset, what was
 * expected and what was found. */
MUST_CHECK enum error_code record_decode(const uint8_t *data, size_t size, const char *key,
                                         const char *owner_id, struct record_view *view,
                                         struct error *err);

/* Writes header and section table of `record` to `out` [record_head_size()], and returns the
 * content hash. record_length() is the length of the whole record. */
struct checksum record_encode_head(const struct record *record, const char *key,
                                   const char *owner_id, uint8_t *out);
size_t record_head_size(const struct record *record);
uint64_t record_length(const struct record *record);
/* Returns how many zero bytes precede section `index`, so that it starts at a multiple of 64. */
size_t record_gap_before(const struct record *record, uint32_t index);

/* Checks that the record has this kind and version. Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code record_expect(const struct record_view *view, enum record_kind kind,
                                         uint32_t version, struct error *err);
/* Checks the same for a kind of which versions `oldest` to `newest` are known. */
MUST_CHECK enum error_code record_expect_among(const struct record_view *view,
                                               enum record_kind kind, uint32_t oldest,
                                               uint32_t newest, struct error *err);
/* Returns the elements of a section, borrowed from the view and 64-byte aligned. With `count` >= 0
 * there must be exactly that many. Fails: ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code record_section_get(const struct record_view *view, const char *name,
                                              enum element_type type, int64_t count,
                                              const void **data, uint64_t *found,
                                              struct error *err);
/* Returns whether there is a section of that name. */
bool record_has(const struct record_view *view, const char *name);
/* Returns the element type of a section; ELEMENT_UNKNOWN if there is none of that name. */
enum element_type record_section_type(const struct record_view *view, const char *name);
/* Copies a section of text into `out`, with a NUL. */
MUST_CHECK enum error_code record_text_get(const struct record_view *view, const char *name,
                                           char *out, size_t size, struct error *err);

/* Sets the environment that this process writes into its records: what their bits depend on, at
 * most 40 bytes. Call it once at start. */
void record_environment_set(const char *text);
const char *record_environment(void);

#endif
