/*
 * Lists the names in a bucket. Declared in s3_place.h.
 *
 * The names are gathered and sorted here: S3 promises the order of their bytes, but SeaweedFS lists
 * "a/b" before "a!", and directory buckets of AWS have no order.
 */
#include "store/backends/name_list.h"
#include "store/backends/s3/s3_names.h"
#include "store/backends/s3/s3_place.h"
#include "store/backends/s3/s3_xml.h"

#include <stdio.h>
#include <string.h>

struct names {
    const char *prefix;              /* of the store and of the list; every name begins with it */
    struct name_list list;           /* names without the prefix */
    char token[S3_XML_TEXT_MAX + 1]; /* of the next page; "" if there is none */
    bool is_truncated;
};

static enum error_code add_name(struct names *names, const char *name, struct error *err)
{
    const size_t prefix = strlen(names->prefix);
    if (strncmp(name, names->prefix, prefix) != 0)
        return error_set(err, ERROR_CORRUPT, "S3 lists %.100s, which does not begin with %s", name,
                         names->prefix);
    return name_list_add(&names->list, name + prefix, strlen(name + prefix), err);
}

static enum error_code take_element(void *context, const char *element, const char *text,
                                    struct error *err)
{
    struct names *names = context;
    if (strcmp(element, "Key") == 0)
        return add_name(names, text, err);
    if (strcmp(element, "NextContinuationToken") == 0)
        (void)snprintf(names->token, sizeof names->token, "%s", text);
    else if (strcmp(element, "IsTruncated") == 0)
        names->is_truncated = strcmp(text, "true") == 0;
    return ERROR_NONE;
}

static enum error_code read_page(struct s3_place *place, struct names *names, struct error *err)
{
    char query[S3_QUERY_SIZE] = "";
    struct s3_request request = {.method = S3_GET, .query = query};
    enum error_code rc = ERROR_NONE;
    if (*names->token)
        rc = s3_query_add(query, "continuation-token", names->token, err);
    if (rc == ERROR_NONE)
        rc = s3_query_add(query, "list-type", "2", err);
    if (rc == ERROR_NONE)
        rc = s3_query_add(query, "prefix", names->prefix, err);
    names->token[0] = '\0';
    names->is_truncated = false;
    if (rc == ERROR_NONE)
        rc = s3_perform_one(place->client, &request, err);
    if (rc == ERROR_NONE)
        rc = s3_xml_visit(request.answer, request.answer_size, take_element, names, err);
    if (rc == ERROR_NONE && names->is_truncated && !*names->token)
        rc = error_set(err, ERROR_IO, "S3 lists a page without the token of the next one");
    s3_request_release(&request);
    return rc == ERROR_NOT_FOUND ? error_context(err, ERROR_IO, "the bucket is gone") : rc;
}

enum error_code s3_list_names(struct s3_place *place, const char *prefix, name_visitor visit,
                              void *context, struct error *err)
{
    char whole[S3_OBJECT_SIZE];
    struct names names = {.prefix = whole};
    (void)snprintf(whole, sizeof whole, "%s%s", s3_client_address(place->client)->prefix, prefix);
    enum error_code rc = ERROR_NONE;
    do
        rc = read_page(place, &names, err);
    while (rc == ERROR_NONE && *names.token);
    if (rc == ERROR_NONE)
        rc = name_list_sort(&names.list, err);
    if (rc == ERROR_NONE)
        rc = name_list_visit(&names.list, visit, context, err);
    name_list_release(&names.list);
    return rc;
}

/* --- keys --- */

/* A visit of the keys of records and artifacts among the names below a prefix. */
struct key_list {
    const char *prefix, *after;
    store_visitor visit;
    void *context;
};

/* Visits a name as a key. '!' is less than any byte of a key, so names sorted by their bytes give
 * keys sorted by theirs. */
static enum error_code visit_key(void *context, const char *name, struct error *err)
{
    const struct key_list *list = context;
    const char *mark = strchr(name, '!');
    char key[S3_OBJECT_SIZE];
    if (!mark || mark == name)
        return ERROR_NONE; /* an object of the store itself, or of another program */
    const bool is_artifact = strcmp(mark, "!artifact") == 0;
    if (!is_artifact && strcmp(mark, "!record") != 0)
        return ERROR_NONE;
    const int size = snprintf(key, sizeof key, "%s%s%.*s", list->prefix, *list->prefix ? "/" : "",
                              (int)(mark - name), name);
    if (size < 0 || size >= KEY_SIZE || strcmp(key, list->after) <= 0)
        return ERROR_NONE;
    return list->visit(list->context, key, is_artifact, err);
}

enum error_code s3_list_keys(void *state, const char *prefix, const char *after,
                             store_visitor visit, void *context, struct error *err)
{
    struct key_list list = {prefix, after, visit, context};
    char folder[KEY_SIZE + 1];
    (void)snprintf(folder, sizeof folder, "%s%s", prefix, *prefix ? "/" : "");
    return s3_list_names(state, folder, visit_key, &list, err);
}
