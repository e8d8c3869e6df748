/*
 * Any bytes as a record: refused, or every section lies inside them and they are what the encoder would
 * have written. A fuzzer does not find hashes, so the input is tried as it is and with its hashes
 * mended, which is how a record of a faulty program looks.
 */
#include "common/base/memory.h"
#include "store/objects/record.h"

#include <string.h>

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sections(const struct record_view *view)
{
    for (uint32_t i = 0; i < view->section_count; i++) {
        const struct record_section *section = &view->section[i];
        const uint8_t *from = section->data;
        const uint64_t bytes = section->count * element_size(section->type);
        must(from >= view->data && bytes <= view->size);
        must((uint64_t)(from - view->data) <= view->size - bytes);
        must((size_t)(from - view->data) % 64 == 0);
    }
}

/* The encoder makes the same head of what was decoded, but for owner and environment. */
static void check_round_trip(const struct record_view *view)
{
    uint8_t head[RECORD_HEADER_SIZE + 32 * RECORD_SECTION_COUNT_MAX];
    struct record record = {.kind = view->kind, .version = view->version};
    struct checksum content;
    for (uint32_t i = 0; i < view->section_count; i++)
        record_add(&record, view->section[i].name, view->section[i].type, view->section[i].data,
                   view->section[i].count);
    must(record_length(&record) == view->size);
    content = record_encode_head(&record, view->key, "o", head);
    must(memcmp(head, view->data, 32) == 0);
    must(memcmp(head + 48, view->data + 48, 32) == 0);
    must(memcmp(head + 128, view->data + 128, record_head_size(&record) - 128) == 0);
    must(checksum_equal(&content, &view->content));
}

static void decode(const uint8_t *data, size_t size)
{
    struct record_view view;
    struct error err = {0};
    const enum error_code rc = record_decode(data, size, "k", NULL, &view, &err);
    must(rc == ERROR_NONE || (rc == ERROR_CORRUPT && strstr(err.message, "record k: offset")));
    if (rc != ERROR_NONE)
        return;
    check_sections(&view);
    check_round_trip(&view);
}

static void mend(uint8_t *data, size_t size)
{
    const struct checksum key = checksum_of("k", 1);
    const struct checksum content = checksum_of(data + 128, size - 128);
    const uint64_t length = size;
    memcpy(data, "GRPHMILL", 8); /* NOLINT(bugprone-not-null-terminated-result) */
    memcpy(data + 16, &length, 8);
    memcpy(data + 48, key.bytes, 16);
    memcpy(data + 64, content.bytes, 16);
    const uint64_t header = checksum_64(data, 120);
    memcpy(data + 120, &header, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = memory_alloc(size, 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    decode(copy, size);
    if (size >= RECORD_HEADER_SIZE) {
        mend(copy, size);
        decode(copy, size);
    }
    memory_free(copy);
    return 0;
}
