/* fuzz_json - whatever the bytes, a document is refused with its place, or written again reads the same. */
#include "common/base/error.h"
#include "common/base/json.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An object's or array's members; recursion as deep as the parser allows. */
static void write_members(struct json_writer *w, const struct json_node *node);

static void write_node(struct json_writer *w, const char *key, const struct json_node *node)
{
    int64_t number = 0;
    double value = 0;
    bool truth = false;
    if (json_node_is_object(node)) {
        json_open_object(w, key);
        write_members(w, node);
        json_close_object(w);
    } else if (json_node_is_array(node)) {
        json_open_array(w, key);
        write_members(w, node);
        json_close_array(w);
    } else if (json_int64(node, &number)) {
        json_put_int64(w, key, number);
    } else if (json_double(node, &value)) {
        json_put_double(w, key, value);
    } else if (json_bool(node, &truth)) {
        json_put_bool(w, key, truth);
    } else if (json_text(node)) {
        json_put_string(w, key, json_text(node));
    } else {
        must(json_node_is_null(node));
        json_put_null(w, key);
    }
}

static void write_members(struct json_writer *w, const struct json_node *node)
{
    for (size_t i = 0; i < json_count(node); i++) {
        const struct json_node *value = NULL;
        const char *key = json_member(node, i, &value);
        write_node(w, key, key ? value : json_at(node, i));
    }
}

static void write_document(struct json_writer *w, const struct json_document *document)
{
    struct error err = {0};
    write_node(w, NULL, json_root(document));
    const enum error_code rc = json_writer_finish(w, &err);
    must(rc == ERROR_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct json_document *document = NULL, *again = NULL;
    struct json_writer first = {0}, second = {0};
    if (json_parse((const char *)data, size, "fuzz.json", &document, &err) != ERROR_NONE) {
        must(err.code == ERROR_INPUT && strncmp(err.message, "fuzz.json:", 10) == 0);
        return 0;
    }
    write_document(&first, document);
    const enum error_code rc = json_parse(first.text, first.size, "again.json", &again, &err);
    must(rc == ERROR_NONE);
    write_document(&second, again);
    must(first.size == second.size && memcmp(first.text, second.text, first.size) == 0);
    json_free(document);
    json_free(again);
    json_writer_release(&first);
    json_writer_release(&second);
    return 0;
}
