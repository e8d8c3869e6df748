#include "common/base/json.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct json_document {
    json_t *root;
};

/* A json_node is a json_t under another name, so that the library stays hidden. */
static const json_t *inside(const struct json_node *node)
{
    return (const json_t *)(const void *)node;
}

static const struct json_node *outside(const json_t *node)
{
    return (const struct json_node *)(const void *)node;
}

enum error_code json_parse(const char *text, size_t size, const char *name,
                           struct json_document **out, struct error *err)
{
    json_error_t cause;
    *out = NULL;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &cause);
    if (!root)
        return error_set(err, ERROR_INPUT,
                         "%s:%d:%d: expected JSON, found what is not valid JSON: %s", name,
                         cause.line, cause.column, cause.text);
    const enum error_code rc = memory_new(out, 1, "a JSON document", err);
    if (rc != ERROR_NONE) {
        json_decref(root);
        return rc;
    }
    (*out)->root = root;
    return ERROR_NONE;
}

void json_free(struct json_document *document)
{
    if (!document)
        return;
    json_decref(document->root);
    memory_free(document);
}

const struct json_node *json_root(const struct json_document *document)
{
    return outside(document->root);
}

const struct json_node *json_get(const struct json_node *node, const char *key)
{
    return node ? outside(json_object_get(inside(node), key)) : NULL;
}

size_t json_count(const struct json_node *node)
{
    if (!node)
        return 0;
    return json_is_array(inside(node)) ? json_array_size(inside(node))
                                       : json_object_size(inside(node));
}

const struct json_node *json_at(const struct json_node *array, size_t index)
{
    return array ? outside(json_array_get(inside(array), index)) : NULL;
}

const char *json_member(const struct json_node *object, size_t index,
                        const struct json_node **value)
{
    *value = NULL;
    if (!object || !json_is_object(inside(object)))
        return NULL;
    /* jansson's iterators take a non-const object but do not change it. */
    json_t *members = NULL;
    const json_t *constant = inside(object);
    memcpy(&members, &constant, sizeof(void *));
    void *at = json_object_iter(members);
    while (at && index-- > 0)
        at = json_object_iter_next(members, at);
    if (!at)
        return NULL;
    *value = outside(json_object_iter_value(at));
    return json_object_iter_key(at);
}

bool json_int64(const struct json_node *node, int64_t *out)
{
    if (!node || !json_is_integer(inside(node)))
        return false;
    *out = json_integer_value(inside(node));
    return true;
}

bool json_double(const struct json_node *node, double *out)
{
    if (!node || !json_is_number(inside(node)))
        return false;
    *out = json_number_value(inside(node));
    return true;
}

bool json_bool(const struct json_node *node, bool *out)
{
    if (!node || !json_is_boolean(inside(node)))
        return false;
    *out = json_is_true(inside(node));
    return true;
}

bool json_node_is_null(const struct json_node *node)
{
    return node && inside(node)->type == JSON_NULL;
}

bool json_node_is_array(const struct json_node *node)
{
    return node && json_is_array(inside(node));
}

bool json_node_is_object(const struct json_node *node)
{
    return node && json_is_object(inside(node));
}

const char *json_text(const struct json_node *node)
{
    return node ? json_string_value(inside(node)) : NULL;
}

static void put_text(struct json_writer *w, const char *text, size_t size)
{
    if (w->failed)
        return;
    if (memory_grow(&w->text, &w->capacity, w->size + size + 1, "JSON", NULL) != ERROR_NONE) {
        w->failed = true;
        return;
    }
    memcpy(w->text + w->size, text, size);
    w->size += size;
    w->text[w->size] = '\0';
}

void json_put_raw(struct json_writer *w, const char *text)
{
    put_text(w, text, strlen(text));
    w->comma = false;
}

/* Returns the size of the UTF-8 character at the start of `text`; 0: there is none. */
static size_t utf8_size(const char *text)
{
    /* least code points that are not overlong */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text;
    const size_t size = byte[0] < 0x80   ? 1
                        : byte[0] < 0xc0 ? 0
                        : byte[0] < 0xe0 ? 2
                        : byte[0] < 0xf0 ? 3
                        : byte[0] < 0xf8 ? 4
                                         : 0;
    uint32_t code = size > 1 ? byte[0] & (0x7fU >> size) : byte[0];
    for (size_t i = 1; i < size; i++) {
        if ((byte[i] & 0xc0) != 0x80) /* also stops at the NUL at the end */
            return 0;
        code = code << 6 | (byte[i] & 0x3f);
    }
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return size && code >= least[size] && code <= 0x10ffff && !is_surrogate ? size : 0;
}

static void put_quoted(struct json_writer *w, const char *text)
{
    put_text(w, "\"", 1);
    for (const char *c = text; *c; c++) {
        char escaped[8];
        if (*c == '"' || *c == '\\') {
            escaped[0] = '\\';
            escaped[1] = *c;
            put_text(w, escaped, 2);
        } else if ((unsigned char)*c < 0x20) {
            const int size = snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*c);
            put_text(w, escaped, (size_t)size);
        } else {
            const size_t size = utf8_size(c);
            put_text(w, size ? c : "\xef\xbf\xbd", size ? size : 3); /* U+FFFD */
            c += size ? size - 1 : 0;
        }
    }
    put_text(w, "\"", 1);
}

static void begin_value(struct json_writer *w, const char *key)
{
    if (w->comma)
        put_text(w, ",", 1);
    if (key) {
        put_quoted(w, key);
        put_text(w, ":", 1);
    }
    w->comma = true;
}

static void open_with(struct json_writer *w, const char *key, const char *bracket)
{
    begin_value(w, key);
    put_text(w, bracket, 1);
    w->comma = false;
}

static void close_with(struct json_writer *w, const char *bracket)
{
    put_text(w, bracket, 1);
    w->comma = true;
}

void json_open_object(struct json_writer *w, const char *key)
{
    open_with(w, key, "{");
}

void json_close_object(struct json_writer *w)
{
    close_with(w, "}");
}

void json_open_array(struct json_writer *w, const char *key)
{
    open_with(w, key, "[");
}

void json_close_array(struct json_writer *w)
{
    close_with(w, "]");
}

void json_put_int64(struct json_writer *w, const char *key, int64_t value)
{
    char number[32];
    const int size = snprintf(number, sizeof number, "%" PRId64, value);
    begin_value(w, key);
    put_text(w, number, (size_t)size);
}

/* Writes the fewest digits that read back as the same double. */
void json_put_double(struct json_writer *w, const char *key, double value)
{
    char number[40];
    int size = 0;
    begin_value(w, key);
    if (!isfinite(value)) {
        put_text(w, "null", 4);
        return;
    }
    if (signbit(value) && !(value < 0)) {
        put_text(w, "-0.0", 4); /* "-0" would read back as the integer 0 */
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        double back = 0.0;
        size = snprintf(number, sizeof number, "%.*g", digits, value);
        if (text_double(number, (size_t)size, &back) && !(back < value) && !(back > value))
            break;
    }
    put_text(w, number, (size_t)size);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    begin_value(w, key);
    put_text(w, value ? "true" : "false", value ? 4 : 5);
}

void json_put_null(struct json_writer *w, const char *key)
{
    begin_value(w, key);
    put_text(w, "null", 4);
}

void json_put_string(struct json_writer *w, const char *key, const char *value)
{
    begin_value(w, key);
    put_quoted(w, value);
}

enum error_code json_writer_finish(struct json_writer *w, struct error *err)
{
    return w->failed ? error_set(err, ERROR_NO_MEMORY, "no memory for JSON text") : ERROR_NONE;
}

void json_writer_release(struct json_writer *w)
{
    memory_free(w->text);
    *w = (struct json_writer){0};
}

enum error_code json_writer_print(struct json_writer *w, struct error *err)
{
    const enum error_code rc = json_writer_finish(w, err);
    if (rc == ERROR_NONE)
        printf("%s\n", w->text);
    json_writer_release(w);
    return rc;
}
