#include "common/formats/arrays/event_file.h"

#include "common/base/memory.h"

#include <string.h>

enum {
    MESSAGE_MAX = 256, /* an Event with a tag */
    RECORD_MAX = MESSAGE_MAX + 16,
    /* The byte before a field: its number, and how it is encoded. */
    EVENT_WALL_TIME = 1 << 3 | 1,
    EVENT_STEP = 2 << 3 | 0,
    EVENT_FILE_VERSION = 3 << 3 | 2,
    EVENT_SUMMARY = 5 << 3 | 2,
    SUMMARY_VALUE = 1 << 3 | 2,
    VALUE_TAG = 1 << 3 | 2,
    VALUE_SIMPLE = 2 << 3 | 5
};

struct message {
    uint8_t bytes[RECORD_MAX];
    size_t size;
};

uint32_t event_file_crc(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint32_t crc = ~0U;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0);
    }
    return ~crc;
}

uint32_t event_file_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

/* Appends the lowest `count` bytes of a value, lowest first. */
static void put_little(struct message *message, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        message->bytes[message->size++] = (uint8_t)(value >> 8 * i);
}

static void put_varint(struct message *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        message->bytes[message->size++] = (uint8_t)(value | 0x80);
    message->bytes[message->size++] = (uint8_t)value;
}

/* Appends a field of bytes with its length. */
static void put_bytes(struct message *message, uint8_t field, const void *bytes, size_t size)
{
    message->bytes[message->size++] = field;
    put_varint(message, size);
    memcpy(message->bytes + message->size, bytes, size);
    message->size += size;
}

static void begin_event(struct message *event, int64_t step)
{
    const double wall_time = (double)step;
    uint64_t bits = 0;
    memcpy(&bits, &wall_time, sizeof bits);
    *event = (struct message){.size = 0};
    event->bytes[event->size++] = EVENT_WALL_TIME;
    put_little(event, bits, 8);
    event->bytes[event->size++] = EVENT_STEP;
    put_varint(event, (uint64_t)step);
}

static enum error_code add_record(struct event_file *file, const struct message *event,
                                  struct error *err)
{
    struct message record = {.size = 0};
    put_little(&record, event->size, 8);
    put_little(&record, event_file_mask(event_file_crc(record.bytes, 8)), 4);
    memcpy(record.bytes + record.size, event->bytes, event->size);
    record.size += event->size;
    put_little(&record, event_file_mask(event_file_crc(event->bytes, event->size)), 4);
    const enum error_code rc = memory_grow(&file->bytes, &file->capacity, file->size + record.size,
                                           "events of TensorBoard", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(file->bytes + file->size, record.bytes, record.size);
    file->size += record.size;
    return ERROR_NONE;
}

static enum error_code add_version(struct event_file *file, struct error *err)
{
    static const char version[] = "brain.Event:2";
    struct message event;
    begin_event(&event, 0);
    put_bytes(&event, EVENT_FILE_VERSION, version, sizeof version - 1);
    return add_record(file, &event, err);
}

enum error_code event_file_add(struct event_file *file, const char *tag, int64_t step, float value,
                               struct error *err)
{
    struct message event, summary = {.size = 0}, one = {.size = 0};
    uint32_t bits = 0;
    must(strlen(tag) < EVENT_TAG_MAX && step >= 0);
    enum error_code rc = file->size ? ERROR_NONE : add_version(file, err);
    if (rc != ERROR_NONE)
        return rc;
    put_bytes(&one, VALUE_TAG, tag, strlen(tag));
    memcpy(&bits, &value, sizeof bits);
    one.bytes[one.size++] = VALUE_SIMPLE;
    put_little(&one, bits, 4);
    put_bytes(&summary, SUMMARY_VALUE, one.bytes, one.size);
    begin_event(&event, step);
    put_bytes(&event, EVENT_SUMMARY, summary.bytes, summary.size);
    return add_record(file, &event, err);
}

void event_file_release(struct event_file *file)
{
    memory_free(file->bytes);
    *file = (struct event_file){0};
}
