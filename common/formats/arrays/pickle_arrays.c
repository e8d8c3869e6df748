#include "common/formats/arrays/pickle_arrays.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/arrays/pickle_machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ITEM_MAX = 1 << 18, INTEGER_BYTES = 8 };

/* The operations, with the names of Lib/pickletools.py. */
enum operation {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINPERSID = 'Q',
    OP_REDUCE = 'R',
    OP_BINUNICODE = 'X',
    OP_BINBYTES = 'B',
    OP_SHORT_BINBYTES = 'C',
    OP_APPEND = 'a',
    OP_BUILD = 'b',
    OP_GLOBAL = 'c',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_EMPTY_LIST = ']',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_SETITEM = 's',
    OP_TUPLE = 't',
    OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}',
    OP_EMPTY_TUPLE = ')',
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_BINBYTES8 = 0x8e,
    OP_STACK_GLOBAL = 0x93,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
    OP_BYTEARRAY8 = 0x96
};

const char *pickle_kind_name(enum pickle_kind kind)
{
    static const char *const names[] = {[PICKLE_UNKNOWN] = "nothing",
                                        [PICKLE_NONE] = "None",
                                        [PICKLE_BOOL] = "a truth value",
                                        [PICKLE_INTEGER] = "an integer",
                                        [PICKLE_MAGIC] = "torch's magic number",
                                        [PICKLE_TEXT] = "a text",
                                        [PICKLE_BYTES] = "bytes",
                                        [PICKLE_TUPLE] = "a tuple",
                                        [PICKLE_LIST] = "a list",
                                        [PICKLE_DICTIONARY] = "a dictionary",
                                        [PICKLE_CLASS] = "a class",
                                        [PICKLE_TYPE] = "a dtype",
                                        [PICKLE_ARRAY] = "an array",
                                        [PICKLE_STORAGE] = "a storage",
                                        [PICKLE_TENSOR] = "a tensor"};
    return names[kind];
}

const struct pickle_value *pickle_arrays_item(const struct pickle_arrays *arrays,
                                              const struct pickle_value *of, uint32_t i)
{
    must(i < of->count);
    uint32_t at = of->head;
    while (i--)
        at = arrays->item[at - 1].next;
    return &arrays->value[arrays->item[at - 1].value];
}

const char *pickle_arrays_text(const struct pickle_arrays *arrays, const struct pickle_value *value)
{
    must(value->kind == PICKLE_TEXT || value->kind == PICKLE_STORAGE);
    return arrays->texts + value->first;
}

void pickle_arrays_release(struct pickle_arrays *arrays)
{
    memory_free(arrays->value);
    memory_free(arrays->item);
    memory_free(arrays->texts);
    *arrays = (struct pickle_arrays){0};
}

enum error_code pickle_machine_refuse(const struct pickle_machine *machine, uint64_t where,
                                      const char *expected, const char *found, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s: byte %" PRIu64 ": expected %s, found %s",
                     machine->source->name, where, expected, found);
}

enum error_code pickle_machine_add(struct pickle_machine *machine, enum pickle_kind kind,
                                   uint32_t *place, struct error *err)
{
    struct pickle_arrays *out = machine->out;
    if (out->value_count == PICKLE_VALUE_MAX)
        return pickle_machine_refuse(machine, machine->begin,
                                     "a dictionary of arrays, of at most 65536 values", "more",
                                     err);
    const enum error_code rc = memory_grow(&out->value, &out->value_capacity, out->value_count + 1,
                                           "values of a pickle", err);
    if (rc != ERROR_NONE)
        return rc;
    *place = (uint32_t)out->value_count++;
    out->value[*place] = (struct pickle_value){.kind = kind, .offset = machine->begin};
    return ERROR_NONE;
}

enum error_code pickle_machine_keep(struct pickle_machine *machine, const void *data, size_t size,
                                    struct error *err)
{
    struct pickle_source *source = machine->source;
    const enum error_code rc =
        file_write_at(source->scratch, data, size, source->scratch_size, source->scratch_path, err);
    if (rc == ERROR_NONE)
        source->scratch_size += size;
    return rc;
}

/* --- bytes --- */

enum error_code pickle_machine_ended(const struct pickle_machine *m, struct error *err)
{
    return pickle_machine_refuse(m, m->base + m->got, "more of the pickle", "the end of the file",
                                 err);
}

enum error_code pickle_machine_fill(struct pickle_machine *m, struct error *err)
{
    if (m->at < m->got)
        return ERROR_NONE;
    m->base += m->got;
    m->at = m->got = 0;
    const enum error_code rc =
        m->source->read(m->source->context, m->piece, PICKLE_PIECE_BYTES, &m->got, err);
    return rc == ERROR_NONE && m->got == 0 ? pickle_machine_ended(m, err) : rc;
}

enum error_code pickle_machine_take(struct pickle_machine *m, void *out, size_t size,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t done = 0; rc == ERROR_NONE && done < size;) {
        rc = pickle_machine_fill(m, err);
        if (rc != ERROR_NONE)
            break;
        const size_t part = size - done < m->got - m->at ? size - done : m->got - m->at;
        memcpy((uint8_t *)out + done, m->piece + m->at, part);
        m->at += part;
        done += part;
    }
    return rc;
}

/* Reads a number of `size` bytes, little-endian. */
enum error_code pickle_machine_take_number(struct pickle_machine *m, size_t size, uint64_t *value,
                                           struct error *err)
{
    uint8_t bytes[INTEGER_BYTES] = {0};
    const enum error_code rc = pickle_machine_take(m, bytes, size, err);
    *value = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
    return rc;
}

/* --- stack --- */

enum error_code pickle_machine_push(struct pickle_machine *m, uint32_t place, struct error *err)
{
    if (m->depth == PICKLE_DEPTH_MAX)
        return pickle_machine_refuse(m, m->begin, "at most 4096 values on the stack", "more", err);
    m->stack[m->depth++] = place;
    return ERROR_NONE;
}

/* Returns the number of values above the last mark. */
static uint32_t loose(const struct pickle_machine *m)
{
    return m->depth - (m->mark_count ? m->mark[m->mark_count - 1] : 0);
}

static enum error_code need(const struct pickle_machine *m, uint32_t count, struct error *err)
{
    return loose(m) >= count ? ERROR_NONE
                             : pickle_machine_refuse(m, m->begin, "values for the operation",
                                                     "a stack without them", err);
}

static enum error_code push_number(struct pickle_machine *m, enum pickle_kind kind, int64_t number,
                                   struct error *err)
{
    uint32_t place = 0;
    const enum error_code rc = pickle_machine_add(m, kind, &place, err);
    if (rc != ERROR_NONE)
        return rc;
    m->out->value[place].number = number;
    return pickle_machine_push(m, place, err);
}

static enum error_code append(struct pickle_machine *m, uint32_t container, uint32_t value,
                              struct error *err)
{
    struct pickle_arrays *out = m->out;
    if (out->item_count == ITEM_MAX)
        return pickle_machine_refuse(m, m->begin, "a dictionary of arrays",
                                     "a list or dictionary of more than 262144 items", err);
    const enum error_code rc =
        memory_grow(&out->item, &out->item_capacity, out->item_count + 1, "items of a pickle", err);
    if (rc != ERROR_NONE)
        return rc;
    struct pickle_value *of = &out->value[container];
    out->item[out->item_count++] = (struct pickle_item){.value = value};
    const uint32_t place = (uint32_t)out->item_count; /* plus one */
    if (of->count++)
        out->item[of->tail - 1].next = place;
    else
        of->head = place;
    of->tail = place;
    return ERROR_NONE;
}

/* Makes one tuple of the last `count` values. */
static enum error_code push_tuple(struct pickle_machine *m, uint32_t count, struct error *err)
{
    uint32_t place = 0;
    enum error_code rc = need(m, count, err);
    if (rc == ERROR_NONE)
        rc = pickle_machine_add(m, PICKLE_TUPLE, &place, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = append(m, place, m->stack[m->depth - count + i], err);
    if (rc != ERROR_NONE)
        return rc;
    m->depth -= count;
    return pickle_machine_push(m, place, err);
}

/* Removes the last mark; *count is the number of values above it. */
static enum error_code pop_mark(struct pickle_machine *m, uint32_t *count, struct error *err)
{
    if (m->mark_count == 0)
        return pickle_machine_refuse(m, m->begin, "a mark before the operation", "none", err);
    *count = loose(m);
    m->mark_count--;
    return ERROR_NONE;
}

/* Moves the last `count` values into the container below them. */
static enum error_code add_items(struct pickle_machine *m, enum pickle_kind kind, uint32_t count,
                                 struct error *err)
{
    enum error_code rc = need(m, count + 1, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t container = m->stack[m->depth - count - 1];
    const enum pickle_kind found = m->out->value[container].kind;
    if (found != kind || (kind == PICKLE_DICTIONARY && count % 2 != 0))
        return pickle_machine_refuse(
            m, m->begin, kind == PICKLE_LIST ? "a list to add to" : "a dictionary and pairs for it",
            pickle_kind_name(found), err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = append(m, container, m->stack[m->depth - count + i], err);
    m->depth -= count;
    return rc;
}

static enum error_code add_marked(struct pickle_machine *m, enum pickle_kind kind,
                                  struct error *err)
{
    uint32_t count = 0;
    const enum error_code rc = pop_mark(m, &count, err);
    return rc == ERROR_NONE ? add_items(m, kind, count, err) : rc;
}

/* --- other operations --- */

/* Reads an integer whose first byte is the number of its bytes. */
static enum error_code take_long(struct pickle_machine *m, struct error *err)
{
    static const uint8_t magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
    uint8_t bytes[sizeof magic] = {0};
    uint64_t size = 0, value = 0;
    enum error_code rc = pickle_machine_take_number(m, 1, &size, err);
    if (rc == ERROR_NONE && size > sizeof bytes)
        rc = pickle_machine_refuse(m, m->begin, "an integer of 64 bits", "a longer one", err);
    if (rc == ERROR_NONE)
        rc = pickle_machine_take(m, bytes, (size_t)size, err);
    if (rc != ERROR_NONE)
        return rc;
    if (size == sizeof magic && memcmp(bytes, magic, sizeof magic) == 0)
        return push_number(m, PICKLE_MAGIC, 0, err);
    if (size > INTEGER_BYTES)
        return pickle_machine_refuse(m, m->begin, "an integer of 64 bits", "a longer one", err);
    const bool is_negative = size && (bytes[size - 1] & 0x80);
    for (size_t i = 0; i < INTEGER_BYTES; i++)
        value |= (uint64_t)(i < size ? bytes[i] : is_negative ? 0xff : 0) << (8 * i);
    return push_number(m, PICKLE_INTEGER, (int64_t)value, err);
}

static enum error_code take_integer(struct pickle_machine *m, size_t size, struct error *err)
{
    uint64_t value = 0;
    const enum error_code rc = pickle_machine_take_number(m, size, &value, err);
    return rc == ERROR_NONE
               ? push_number(m, PICKLE_INTEGER, size == 4 ? (int32_t)value : (int64_t)value, err)
               : rc;
}

/* Reads one name up to the end of its line. */
static enum error_code take_name(struct pickle_machine *m, char name[PICKLE_NAME_SIZE],
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE; i++) {
        if (i == PICKLE_NAME_SIZE)
            return pickle_machine_refuse(m, m->begin, "the name of a class, below 96 bytes",
                                         "a longer one", err);
        rc = pickle_machine_take(m, &name[i], 1, err);
        if (rc == ERROR_NONE && name[i] == '\n') {
            name[i] = '\0';
            break;
        }
    }
    return rc;
}

static enum error_code find_class(struct pickle_machine *m, const char *module, const char *name,
                                  struct error *err)
{
    uint32_t place = 0;
    const enum error_code rc = pickle_class_find(m, module, name, &place, err);
    return rc == ERROR_NONE ? pickle_machine_push(m, place, err) : rc;
}

static enum error_code take_class(struct pickle_machine *m, struct error *err)
{
    char module[PICKLE_NAME_SIZE], name[PICKLE_NAME_SIZE];
    enum error_code rc = take_name(m, module, err);
    if (rc == ERROR_NONE)
        rc = take_name(m, name, err);
    return rc == ERROR_NONE ? find_class(m, module, name, err) : rc;
}

static enum error_code take_stacked_class(struct pickle_machine *m, struct error *err)
{
    const enum error_code rc = need(m, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct pickle_value *module = &m->out->value[m->stack[m->depth - 2]];
    const struct pickle_value *name = &m->out->value[m->stack[m->depth - 1]];
    if (module->kind != PICKLE_TEXT || name->kind != PICKLE_TEXT)
        return pickle_machine_refuse(m, m->begin, "the name of a class",
                                     pickle_kind_name(name->kind), err);
    m->depth -= 2;
    return find_class(m, pickle_arrays_text(m->out, module), pickle_arrays_text(m->out, name), err);
}

static enum error_code put(struct pickle_machine *m, uint64_t index, struct error *err)
{
    enum error_code rc = need(m, 1, err);
    if (rc == ERROR_NONE && index >= PICKLE_VALUE_MAX)
        rc = pickle_machine_refuse(m, m->begin, "at most 65536 values to remember", "more", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&m->memo, &m->memo_capacity, (size_t)index + 1, "what a pickle remembers",
                         err);
    if (rc != ERROR_NONE)
        return rc;
    while (m->memo_count <= index)
        m->memo[m->memo_count++] = 0;
    m->memo[index] = m->stack[m->depth - 1] + 1;
    return ERROR_NONE;
}

static enum error_code take_put(struct pickle_machine *m, size_t size, struct error *err)
{
    uint64_t index = 0;
    const enum error_code rc = pickle_machine_take_number(m, size, &index, err);
    return rc == ERROR_NONE ? put(m, index, err) : rc;
}

static enum error_code take_get(struct pickle_machine *m, size_t size, struct error *err)
{
    uint64_t index = 0;
    const enum error_code rc = pickle_machine_take_number(m, size, &index, err);
    if (rc == ERROR_NONE && (index >= m->memo_count || m->memo[index] == 0))
        return pickle_machine_refuse(m, m->begin, "a value that was remembered", "none", err);
    return rc == ERROR_NONE ? pickle_machine_push(m, m->memo[index] - 1, err) : rc;
}

static enum error_code call(struct pickle_machine *m, struct error *err)
{
    uint32_t place = 0;
    enum error_code rc = need(m, 2, err);
    if (rc == ERROR_NONE)
        rc = pickle_class_call(m, m->stack[m->depth - 2], m->stack[m->depth - 1], &place, err);
    if (rc != ERROR_NONE)
        return rc;
    m->depth -= 2;
    return pickle_machine_push(m, place, err);
}

static enum error_code build(struct pickle_machine *m, struct error *err)
{
    enum error_code rc = need(m, 2, err);
    if (rc == ERROR_NONE)
        rc = pickle_class_build(m, m->stack[m->depth - 2], m->stack[m->depth - 1], err);
    if (rc == ERROR_NONE)
        m->depth--;
    return rc;
}

static enum error_code name_storage(struct pickle_machine *m, struct error *err)
{
    uint32_t place = 0;
    enum error_code rc = need(m, 1, err);
    if (rc == ERROR_NONE)
        rc = pickle_class_storage(m, m->stack[m->depth - 1], &place, err);
    if (rc != ERROR_NONE)
        return rc;
    m->depth--;
    return pickle_machine_push(m, place, err);
}

static enum error_code stop(struct pickle_machine *m, struct error *err)
{
    if (m->depth != 1 || m->mark_count != 0)
        return pickle_machine_refuse(m, m->begin, "one value at the end", "none, or several", err);
    m->out->root = m->stack[0];
    m->out->size = m->base + m->at;
    m->is_done = true;
    return ERROR_NONE;
}

static enum error_code set_mark(struct pickle_machine *m, struct error *err)
{
    if (m->mark_count == PICKLE_MARK_MAX)
        return pickle_machine_refuse(m, m->begin, "at most 256 marks", "more", err);
    m->mark[m->mark_count++] = m->depth;
    return ERROR_NONE;
}

static enum error_code push_marked_tuple(struct pickle_machine *m, struct error *err)
{
    uint32_t count = 0;
    const enum error_code rc = pop_mark(m, &count, err);
    return rc == ERROR_NONE ? push_tuple(m, count, err) : rc;
}

static enum error_code refuse_operation(const struct pickle_machine *m, uint8_t operation,
                                        struct error *err)
{
    char found[64];
    if (operation > 0x20 && operation < 0x7f)
        (void)snprintf(found, sizeof found, "'%c'", operation);
    else
        (void)snprintf(found, sizeof found, "0x%02x", operation);
    return pickle_machine_refuse(m, m->begin, "an operation that makes a dictionary of arrays",
                                 found, err);
}

static enum error_code take_protocol(struct pickle_machine *m, struct error *err)
{
    char found[32];
    uint64_t version = 0;
    const enum error_code rc = pickle_machine_take_number(m, 1, &version, err);
    (void)snprintf(found, sizeof found, "%" PRIu64, version);
    return rc == ERROR_NONE && (version < 2 || version > 5)
               ? pickle_machine_refuse(m, m->begin, "a pickle of protocol 2 to 5", found, err)
               : rc;
}

/* The operations of texts and bytes, with the number of bytes of their length. */
static const struct {
    uint8_t operation, width;
    bool is_text;
} strings[] = {{OP_SHORT_BINUNICODE, 1, true}, {OP_BINUNICODE, 4, true}, {OP_BINUNICODE8, 8, true},
               {OP_SHORT_BINBYTES, 1, false},  {OP_BINBYTES, 4, false},  {OP_BINBYTES8, 8, false},
               {OP_BYTEARRAY8, 8, false}};

static enum error_code take_other(struct pickle_machine *m, uint8_t operation, struct error *err)
{
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (strings[i].operation == operation)
            return pickle_text_take(m, strings[i].width, strings[i].is_text, err);
    return refuse_operation(m, operation, err);
}

static enum error_code step(struct pickle_machine *m, struct error *err)
{
    uint8_t operation = 0;
    uint64_t frame = 0;
    m->begin = m->base + m->at;
    const enum error_code rc = pickle_machine_take(m, &operation, 1, err);
    if (rc != ERROR_NONE)
        return rc;
    if (m->begin == 0 && operation != OP_PROTO)
        return pickle_machine_refuse(m, 0, "a pickle of protocol 2 to 5 (byte 0x80)",
                                     "something else", err);
    switch (operation) {
    case OP_PROTO:
        return take_protocol(m, err);
    case OP_FRAME:
        return pickle_machine_take_number(m, 8, &frame, err);
    case OP_STOP:
        return stop(m, err);
    case OP_MARK:
        return set_mark(m, err);
    case OP_NONE:
        return push_number(m, PICKLE_NONE, 0, err);
    case OP_NEWTRUE:
        return push_number(m, PICKLE_BOOL, 1, err);
    case OP_NEWFALSE:
        return push_number(m, PICKLE_BOOL, 0, err);
    case OP_BININT:
        return take_integer(m, 4, err);
    case OP_BININT1:
        return take_integer(m, 1, err);
    case OP_BININT2:
        return take_integer(m, 2, err);
    case OP_LONG1:
        return take_long(m, err);
    case OP_EMPTY_TUPLE:
        return push_number(m, PICKLE_TUPLE, 0, err);
    case OP_EMPTY_LIST:
        return push_number(m, PICKLE_LIST, 0, err);
    case OP_EMPTY_DICT:
        return push_number(m, PICKLE_DICTIONARY, 0, err);
    case OP_TUPLE1:
        return push_tuple(m, 1, err);
    case OP_TUPLE2:
        return push_tuple(m, 2, err);
    case OP_TUPLE3:
        return push_tuple(m, 3, err);
    case OP_TUPLE:
        return push_marked_tuple(m, err);
    case OP_APPEND:
        return add_items(m, PICKLE_LIST, 1, err);
    case OP_APPENDS:
        return add_marked(m, PICKLE_LIST, err);
    case OP_SETITEM:
        return add_items(m, PICKLE_DICTIONARY, 2, err);
    case OP_SETITEMS:
        return add_marked(m, PICKLE_DICTIONARY, err);
    case OP_BINPUT:
        return take_put(m, 1, err);
    case OP_LONG_BINPUT:
        return take_put(m, 4, err);
    case OP_MEMOIZE:
        return put(m, m->memo_count, err);
    case OP_BINGET:
        return take_get(m, 1, err);
    case OP_LONG_BINGET:
        return take_get(m, 4, err);
    case OP_GLOBAL:
        return take_class(m, err);
    case OP_STACK_GLOBAL:
        return take_stacked_class(m, err);
    case OP_REDUCE:
        return call(m, err);
    case OP_BUILD:
        return build(m, err);
    case OP_BINPERSID:
        return name_storage(m, err);
    default:
        return take_other(m, operation, err);
    }
}

enum error_code pickle_arrays_read(struct pickle_arrays *out, struct pickle_source *source,
                                   struct error *err)
{
    struct pickle_machine *m = NULL;
    *out = (struct pickle_arrays){0};
    enum error_code rc = memory_new(&m, 1, "the stack of a pickle", err);
    if (rc != ERROR_NONE)
        return rc;
    m->source = source;
    m->out = out;
    rc = memory_new(&m->piece, PICKLE_PIECE_BYTES, "a piece of a pickle", err);
    while (rc == ERROR_NONE && !m->is_done)
        rc = step(m, err);
    memory_free(m->piece);
    memory_free(m->memo);
    memory_free(m);
    return rc;
}
