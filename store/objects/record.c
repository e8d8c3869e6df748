#include "store/objects/record.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    AT_KIND = 8,
    AT_VERSION = 12,
    AT_LENGTH = 16,
    AT_SECTION_COUNT = 24,
    AT_ZERO = 28,
    AT_OWNER = 32,
    AT_KEY = 48,
    AT_CONTENT = 64,
    AT_ENVIRONMENT = 80,
    AT_HEADER_SUM = 120,
    ENVIRONMENT_SIZE = 40,
    ENTRY_SIZE = 32,
    SECTION_ALIGNMENT = 64
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "records are little-endian and their arrays are used as they lie in the file");

static const char magic[8] = {'G', 'R', 'P', 'H', 'M', 'I', 'L', 'L'};
static const uint8_t zeros[SECTION_ALIGNMENT];
static char environment_text[ENVIRONMENT_SIZE + 1];

static const char *const kind_name[RECORD_KIND_COUNT] = {
    [RECORD_UNKNOWN] = "unknown",
    [RECORD_DATASET_SCHEMA] = "dataset_schema",
    [RECORD_EDGE_CHUNK] = "edge_chunk",
    [RECORD_FEATURE_CHUNK] = "feature_chunk",
    [RECORD_NODE_LABELS] = "node_labels",
    [RECORD_NODE_SPLITS] = "node_splits",
    [RECORD_NODE_IDS] = "node_ids",
    [RECORD_ASSIGNMENT] = "assignment",
    [RECORD_PARTITION_BOOK] = "partition_book",
    [RECORD_TOPOLOGY_SEAL] = "topology_seal",
    [RECORD_SHARD_SEAL] = "shard_seal",
    [RECORD_PARTITION_REPORT] = "partition_report",
    [RECORD_RUN_PLAN] = "run_plan",
    [RECORD_MINI_BATCH] = "mini_batch",
    [RECORD_GRADIENT] = "gradient",
    [RECORD_WEIGHTS] = "weights",
    [RECORD_OPTIMIZER_STATE] = "optimizer_state",
    [RECORD_EVALUATION] = "evaluation",
    [RECORD_SNAPSHOT] = "snapshot",
    [RECORD_OUTPUTS_SEAL] = "outputs_seal",
    [RECORD_STORE_IDENTITY] = "store_identity",
    [RECORD_NODE_PERMUTATION] = "node_permutation",
    [RECORD_EDGE_SPLITS] = "edge_splits",
    [RECORD_FEATURE_STATISTICS] = "feature_statistics",
    [RECORD_EMBEDDING_ROWS] = "embedding_rows",
    [RECORD_WALK_COUNTS] = "walk_counts",
    [RECORD_WANTED_NODES] = "wanted_nodes",
    [RECORD_GRAPH_INDEX] = "graph_index",
    [RECORD_GRADIENT_RANGE] = "gradient_range",
    [RECORD_RESIDUAL] = "residual",
    [RECORD_DATASET_DELTA] = "dataset_delta",
    [RECORD_NODE_COLUMNS] = "node_columns",
    [RECORD_ROUND_BASE] = "round_base",
    [RECORD_PASS_OUTPUT] = "pass_output",
    [RECORD_PASS_GRADIENT] = "pass_gradient",
    [RECORD_PARTITION_DELTA] = "partition_delta",
    [RECORD_DATASET_MERGE] = "dataset_merge",
    [RECORD_NODE_PLACEMENT] = "node_placement",
    [RECORD_NODE_TIMES] = "node_times",
};

const char *record_kind_name(enum record_kind kind)
{
    return (unsigned)kind < RECORD_KIND_COUNT ? kind_name[kind] : kind_name[RECORD_UNKNOWN];
}

void record_environment_set(const char *text)
{
    must(strlen(text) <= ENVIRONMENT_SIZE);
    memset(environment_text, 0, sizeof environment_text);
    (void)snprintf(environment_text, sizeof environment_text, "%s", text);
}

const char *record_environment(void)
{
    return environment_text;
}

static uint32_t load_u32(const uint8_t *from)
{
    uint32_t value = 0;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint64_t load_u64(const uint8_t *from)
{
    uint64_t value = 0;
    memcpy(&value, from, sizeof value);
    return value;
}

static void store_u32(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

static void store_u64(uint8_t *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
}

static uint64_t aligned(uint64_t offset)
{
    return (offset + SECTION_ALIGNMENT - 1) & ~(uint64_t)(SECTION_ALIGNMENT - 1);
}

/* --- writing --- */

void record_add(struct record *record, const char *name, enum element_type type, const void *data,
                uint64_t count)
{
    must(record->section_count < RECORD_SECTION_COUNT_MAX);
    must(*name && strlen(name) < RECORD_SECTION_NAME_SIZE);
    must(element_size(type) && count <= UINT64_MAX / 2 / element_size(type));
    must(data || count == 0);
    struct record_section *section = &record->section[record->section_count++];
    *section = (struct record_section){.type = type, .count = count, .data = data};
    memcpy(section->name, name, strlen(name));
}

void record_add_text(struct record *record, const char *name, const char *text)
{
    record_add(record, name, ELEMENT_U8, text, strlen(text));
}

static uint64_t section_bytes(const struct record_section *section)
{
    return section->count * element_size(section->type);
}

size_t record_head_size(const struct record *record)
{
    return RECORD_HEADER_SIZE + (size_t)ENTRY_SIZE * record->section_count;
}

/* Returns where section `index` starts; for section_count, where the last one ends. */
static uint64_t section_offset(const struct record *record, uint32_t index)
{
    uint64_t at = record_head_size(record);
    for (uint32_t i = 0; i < index; i++)
        at = aligned(at) + section_bytes(&record->section[i]);
    return index < record->section_count ? aligned(at) : at;
}

uint64_t record_length(const struct record *record)
{
    return section_offset(record, record->section_count);
}

size_t record_gap_before(const struct record *record, uint32_t index)
{
    const uint64_t before =
        index ? section_offset(record, index - 1) + section_bytes(&record->section[index - 1])
              : record_head_size(record);
    return (size_t)(section_offset(record, index) - before);
}

static void encode_table(const struct record *record, uint8_t *out)
{
    for (uint32_t i = 0; i < record->section_count; i++, out += ENTRY_SIZE) {
        const struct record_section *section = &record->section[i];
        memcpy(out, section->name, RECORD_SECTION_NAME_SIZE);
        store_u32(out + 16, (uint32_t)section->type);
        store_u32(out + 20, 0);
        store_u64(out + 24, section->count);
    }
}

struct checksum record_content_sum(const struct record *record)
{
    uint8_t table[ENTRY_SIZE * RECORD_SECTION_COUNT_MAX];
    struct checksum_part part[1 + 2 * RECORD_SECTION_COUNT_MAX];
    size_t count = 0;
    encode_table(record, table);
    part[count++] = (struct checksum_part){table, (size_t)ENTRY_SIZE * record->section_count};
    for (uint32_t i = 0; i < record->section_count; i++) {
        const struct record_section *section = &record->section[i];
        part[count++] = (struct checksum_part){zeros, record_gap_before(record, i)};
        part[count++] = (struct checksum_part){section->data, section_bytes(section)};
    }
    return checksum_of_parts(part, count);
}

static void put_sum_of_text(uint8_t *to, const char *text)
{
    const struct checksum sum = checksum_of(text, strlen(text));
    memcpy(to, sum.bytes, sizeof sum.bytes);
}

struct checksum record_encode_head(const struct record *record, const char *key,
                                   const char *owner_id, uint8_t *out)
{
    must(record->kind > RECORD_UNKNOWN && record->kind < RECORD_KIND_COUNT);
    const struct checksum content = record_content_sum(record);
    memset(out, 0, RECORD_HEADER_SIZE);
    memcpy(out, magic, sizeof magic);
    store_u32(out + AT_KIND, (uint32_t)record->kind);
    store_u32(out + AT_VERSION, record->version);
    store_u64(out + AT_LENGTH, record_length(record));
    store_u32(out + AT_SECTION_COUNT, record->section_count);
    put_sum_of_text(out + AT_OWNER, owner_id);
    put_sum_of_text(out + AT_KEY, key);
    memcpy(out + AT_CONTENT, content.bytes, sizeof content.bytes);
    memcpy(out + AT_ENVIRONMENT, environment_text, ENVIRONMENT_SIZE);
    store_u64(out + AT_HEADER_SUM, checksum_64(out, AT_HEADER_SUM));
    encode_table(record, out + RECORD_HEADER_SIZE);
    return content;
}

/* --- reading --- */

static enum error_code check_number(const char *key, uint64_t offset, const char *what,
                                    uint64_t expected, uint64_t found, struct error *err)
{
    if (expected == found)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: offset %" PRIu64 ": %s: expected %" PRIu64 ", found %" PRIu64, key,
                     offset, what, expected, found);
}

static struct checksum load_sum(const uint8_t *from)
{
    struct checksum sum;
    memcpy(sum.bytes, from, sizeof sum.bytes);
    return sum;
}

static enum error_code check_sum(const char *key, uint64_t offset, const char *what,
                                 const struct checksum *expected, const struct checksum *found,
                                 struct error *err)
{
    if (checksum_equal(expected, found))
        return ERROR_NONE;
    char expected_text[CHECKSUM_TEXT_SIZE], found_text[CHECKSUM_TEXT_SIZE];
    checksum_text(expected, expected_text);
    checksum_text(found, found_text);
    return error_set(err, ERROR_CORRUPT, "record %s: offset %" PRIu64 ": %s: expected %s, found %s",
                     key, offset, what, expected_text, found_text);
}

static enum error_code check_text_sum(const char *key, uint64_t offset, const char *what,
                                      const char *text, const uint8_t *stored, struct error *err)
{
    const struct checksum expected = checksum_of(text, strlen(text)), found = load_sum(stored);
    return check_sum(key, offset, what, &expected, &found, err);
}

static enum error_code check_header(const uint8_t *data, size_t size, const char *key,
                                    struct error *err)
{
    if (size < RECORD_HEADER_SIZE)
        return error_set(
            err, ERROR_CORRUPT,
            "record %s: offset %zu: expected a header of %d bytes, found its end after "
            "%zu bytes",
            key, size, RECORD_HEADER_SIZE, size);
    if (memcmp(data, magic, sizeof magic) != 0)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset 0: expected \"GRPHMILL\", found %016" PRIx64
                         " (as a number)",
                         key, load_u64(data));
    const uint64_t stored = load_u64(data + AT_HEADER_SUM),
                   found = checksum_64(data, AT_HEADER_SUM);
    if (stored != found)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset %d: header hash: expected %016" PRIx64
                         ", found %016" PRIx64,
                         key, AT_HEADER_SUM, stored, found);
    return check_number(key, AT_LENGTH, "length", load_u64(data + AT_LENGTH), size, err);
}

/* Checks the fields that can be wrong although the hash of the header is right: kind, owner and
 * key. */
static enum error_code check_identity(const uint8_t *data, const char *key, const char *owner_id,
                                      struct error *err)
{
    const uint32_t kind = load_u32(data + AT_KIND), count = load_u32(data + AT_SECTION_COUNT);
    if (kind == RECORD_UNKNOWN || kind >= RECORD_KIND_COUNT)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset %d: expected a kind below %d, found %" PRIu32, key,
                         AT_KIND, RECORD_KIND_COUNT, kind);
    if (count > RECORD_SECTION_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset %d: expected at most %d sections, found %" PRIu32, key,
                         AT_SECTION_COUNT, RECORD_SECTION_COUNT_MAX, count);
    enum error_code rc =
        check_number(key, AT_ZERO, "reserved word", 0, load_u32(data + AT_ZERO), err);
    if (rc == ERROR_NONE)
        rc = check_text_sum(key, AT_KEY, "hash of the key", key, data + AT_KEY, err);
    if (rc == ERROR_NONE && owner_id)
        rc =
            check_text_sum(key, AT_OWNER, "hash of the owner's id", owner_id, data + AT_OWNER, err);
    return rc;
}

static bool name_is_valid(const uint8_t *name)
{
    size_t length = 0;
    while (length < RECORD_SECTION_NAME_SIZE && name[length] > ' ' && name[length] < 127)
        length++;
    if (length == 0 || length == RECORD_SECTION_NAME_SIZE)
        return false;
    for (size_t i = length; i < RECORD_SECTION_NAME_SIZE; i++)
        if (name[i])
            return false;
    return true;
}

/* Reads the line of the section table at `at`, without its place in the record. */
static enum error_code decode_entry(const struct record_view *view, uint64_t at,
                                    struct record_section *out, struct error *err)
{
    const uint8_t *entry = view->data + at;
    if (!name_is_valid(entry))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset %" PRIu64 ": expected a section's name", view->key, at);
    *out = (struct record_section){.count = load_u64(entry + 24)};
    memcpy(out->name, entry, RECORD_SECTION_NAME_SIZE);
    const uint32_t type = load_u32(entry + 16);
    if (type > ELEMENT_F64 || !element_size((enum element_type)type))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset %" PRIu64 ": section %s: expected an element type, "
                         "found %" PRIu32,
                         view->key, at + 16, out->name, type);
    out->type = (enum element_type)type;
    if (record_has(view, out->name))
        return error_set(err, ERROR_CORRUPT, "record %s: offset %" PRIu64 ": a second section %s",
                         view->key, at, out->name);
    return check_number(view->key, at + 20, "reserved word", 0, load_u32(entry + 20), err);
}

/* Finds the place of a section after *end, the end of the one before, and moves *end after it. */
static enum error_code place_section(const struct record_view *view, struct record_section *section,
                                     uint64_t *end, struct error *err)
{
    const uint64_t start = aligned(*end), size = element_size(section->type);
    must(size > 0); /* decode_entry() has seen the type */
    if (start > view->size || section->count > (view->size - start) / size)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: offset %" PRIu64 ": section %s: expected %" PRIu64
                         " elements of %zu bytes, found the record's end at %zu",
                         view->key, start, section->name, section->count,
                         element_size(section->type), view->size);
    for (uint64_t at = *end; at < start; at++)
        if (view->data[at])
            return check_number(view->key, at, "gap", 0, view->data[at], err);
    section->data = view->data + start;
    *end = start + section_bytes(section);
    return ERROR_NONE;
}

static enum error_code decode_sections(struct record_view *view, uint32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    uint64_t end = RECORD_HEADER_SIZE + (uint64_t)ENTRY_SIZE * count;
    if (end > view->size)
        return check_number(view->key, AT_SECTION_COUNT, "bytes of header and table", view->size,
                            end, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        rc = decode_entry(view, RECORD_HEADER_SIZE + (uint64_t)ENTRY_SIZE * i, &view->section[i],
                          err);
        if (rc == ERROR_NONE)
            rc = place_section(view, &view->section[i], &end, err);
        if (rc == ERROR_NONE)
            view->section_count = i + 1;
    }
    return rc == ERROR_NONE
               ? check_number(view->key, end, "end of the last section", view->size, end, err)
               : rc;
}

enum error_code record_decode(const uint8_t *data, size_t size, const char *key,
                              const char *owner_id, struct record_view *view, struct error *err)
{
    must(strlen(key) < sizeof view->key);
    *view = (struct record_view){.data = data, .size = size};
    memcpy(view->key, key, strlen(key));
    enum error_code rc = check_header(data, size, key, err);
    if (rc == ERROR_NONE)
        rc = check_identity(data, key, owner_id, err);
    if (rc != ERROR_NONE)
        return rc;
    /* The hash of the header is right, so its content hash is the expected one. */
    const struct checksum written = load_sum(data + AT_CONTENT);
    view->content = checksum_of(data + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
    rc = check_sum(key, AT_CONTENT, "content hash", &written, &view->content, err);
    if (rc != ERROR_NONE)
        return rc;
    view->kind = (enum record_kind)load_u32(data + AT_KIND);
    view->version = load_u32(data + AT_VERSION);
    memcpy(view->environment, data + AT_ENVIRONMENT, ENVIRONMENT_SIZE);
    return decode_sections(view, load_u32(data + AT_SECTION_COUNT), err);
}

enum error_code record_expect(const struct record_view *view, enum record_kind kind,
                              uint32_t version, struct error *err)
{
    if (view->kind != kind)
        return error_set(err, ERROR_CORRUPT, "record %s: offset %d: expected kind %s, found %s",
                         view->key, AT_KIND, record_kind_name(kind), record_kind_name(view->kind));
    if (view->version == version)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: offset %d: format version: expected %" PRIu32 ", found %" PRIu32
                     ": %s (store/README.md lists the versions that are read)",
                     view->key, AT_VERSION, version, view->version,
                     view->version > version
                         ? "a newer release wrote it, which reads it"
                         : "this release does not read it, so make it again in a new folder");
}

enum error_code record_expect_among(const struct record_view *view, enum record_kind kind,
                                    uint32_t oldest, uint32_t newest, struct error *err)
{
    const uint32_t version =
        view->version >= oldest && view->version <= newest ? view->version : newest;
    return record_expect(view, kind, version, err);
}

static const struct record_section *find(const struct record_view *view, const char *name)
{
    for (uint32_t i = 0; i < view->section_count; i++)
        if (strncmp(view->section[i].name, name, RECORD_SECTION_NAME_SIZE) == 0)
            return &view->section[i];
    return NULL;
}

bool record_has(const struct record_view *view, const char *name)
{
    return find(view, name) != NULL;
}

enum element_type record_section_type(const struct record_view *view, const char *name)
{
    const struct record_section *section = find(view, name);
    return section ? section->type : ELEMENT_UNKNOWN;
}

enum error_code record_section_get(const struct record_view *view, const char *name,
                                   enum element_type type, int64_t count, const void **data,
                                   uint64_t *found, struct error *err)
{
    const struct record_section *section = find(view, name);
    if (!section)
        return error_set(err, ERROR_CORRUPT, "record %s: expected a section %s, found none",
                         view->key, name);
    if (section->type != type)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected element type %d, found %d", view->key,
                         name, (int)type, (int)section->type);
    if (count >= 0 && section->count != (uint64_t)count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected %" PRId64 " elements, found %" PRIu64,
                         view->key, name, count, section->count);
    *data = section->data;
    if (found)
        *found = section->count;
    return ERROR_NONE;
}

enum error_code record_text_get(const struct record_view *view, const char *name, char *out,
                                size_t size, struct error *err)
{
    const void *text = NULL;
    uint64_t length = 0;
    const enum error_code rc = record_section_get(view, name, ELEMENT_U8, -1, &text, &length, err);
    if (rc != ERROR_NONE)
        return rc;
    must(text != NULL);
    if (length >= size || memchr(text, '\0', length))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected text of at most %zu bytes, found %" PRIu64
                         "%s",
                         view->key, name, size - 1, length, length < size ? " with a NUL" : "");
    memcpy(out, text, length);
    out[length] = '\0';
    return ERROR_NONE;
}
