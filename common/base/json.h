/*
 * json - reads with jansson, writes by appending.
 *
 * A reader borrows strings from the document; they live until json_free(). The writer grows one
 * text, and adds commas and quotes by itself.
 */
#ifndef COMMON_BASE_JSON_H
#define COMMON_BASE_JSON_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_document;
struct json_node; /* borrowed from its document */

/* Parses a text. Messages name it by `name`, a path or a record. Duplicate keys are refused. Fails:
 * ERROR_INPUT with line and column. */
MUST_CHECK enum error_code json_parse(const char *text, size_t size, const char *name,
                                      struct json_document **out, struct error *err);
void json_free(struct json_document *document);
const struct json_node *json_root(const struct json_document *document);

/* Returns the value of a key; NULL when `node` is no object or has no such key. */
const struct json_node *json_get(const struct json_node *node, const char *key);
/* Returns the number of elements of an array or keys of an object, otherwise 0. */
size_t json_count(const struct json_node *node);
const struct json_node *json_at(const struct json_node *array, size_t index);
/* Returns the key of the index-th member of an object, in file order; *value is its value. */
const char *json_member(const struct json_node *object, size_t index,
                        const struct json_node **value);
/* Return false when the node is missing or of another type. */
bool json_int64(const struct json_node *node, int64_t *out);
bool json_double(const struct json_node *node, double *out);
bool json_bool(const struct json_node *node, bool *out);
bool json_node_is_null(const struct json_node *node);
bool json_node_is_array(const struct json_node *node);
bool json_node_is_object(const struct json_node *node);
/* Returns NULL when the node is missing or no string. */
const char *json_text(const struct json_node *node);

/* Appends to `text`, which is NUL-terminated after every call. json_writer_finish() reports a
 * failure to allocate. Doubles are written with 17 digits, so that the same value is read back; a
 * value that is not finite becomes null. A byte that is not UTF-8, as in some file names, becomes
 * U+FFFD. `key` is NULL inside arrays and for the root. */
struct json_writer { /* {0} is an empty writer */
    char *text;
    size_t size, capacity;
    bool failed;
    bool comma;
};

void json_open_object(struct json_writer *w, const char *key);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w, const char *key);
void json_close_array(struct json_writer *w);
void json_put_int64(struct json_writer *w, const char *key, int64_t value);
void json_put_double(struct json_writer *w, const char *key, double value);
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);
void json_put_string(struct json_writer *w, const char *key, const char *value);
/* Appends raw text, for instance a line feed between documents. */
void json_put_raw(struct json_writer *w, const char *text);
/* Fails: ERROR_NO_MEMORY when any earlier call could not grow the text. */
MUST_CHECK enum error_code json_writer_finish(struct json_writer *w, struct error *err);
void json_writer_release(struct json_writer *w);
/* Finishes, prints the text and a line feed on stdout, and releases the writer. Programs print
 * their answers with it. */
MUST_CHECK enum error_code json_writer_print(struct json_writer *w, struct error *err);

#endif
