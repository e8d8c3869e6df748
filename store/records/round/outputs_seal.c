#include "store/records/round/outputs_seal.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { READS = 2 };

static enum error_code check_weights(const struct record_view *view, void *out, struct error *err)
{
    const struct outputs_seal *seal = out;
    return weights_identity_check_order(view, &seal->weights, err);
}

#define SECTION_STRUCT struct outputs_seal
static const struct section_row rows[] = {
    {SECTION_TEXT("files", files)},
    {SECTION_TEXT("metrics", metrics)},
    {SECTION_VALUES("weights", I64, weights.version, weights.snapshot_version),
     .read = check_weights},
    {SECTION_VALUE("weights_sum", U8, weights.sum)},
};
static const struct section_table table = SECTION_TABLE_OF_COPIES(RECORD_OUTPUTS_SEAL, 2, 2, rows);

enum error_code outputs_seal_put(struct store *store, const char *key, const char *run_id,
                                 const struct outputs_seal *seal, struct error *err)
{
    return section_table_put(store, &table, key, run_id, seal, STORE_DURABLE, err);
}

enum error_code outputs_seal_get(struct store *store, const char *key, const char *run_id,
                                 struct outputs_seal *out, struct error *err)
{
    return section_table_get(store, &table, key, run_id, out, err);
}

enum error_code outputs_seal_add(struct outputs_seal *seal, const char *name, uint64_t size,
                                 const struct checksum *sum, struct error *err)
{
    char digits[CHECKSUM_TEXT_SIZE];
    checksum_text(sum, digits);
    const size_t used = strlen(seal->files);
    const int n = snprintf(seal->files + used, sizeof seal->files - used, "%s %" PRIu64 " %s\n",
                           name, size, digits);
    if (n < 0 || (size_t)n >= sizeof seal->files - used)
        return error_set(err, ERROR_INVALID, "more output files than a seal holds: %s", name);
    return ERROR_NONE;
}

enum error_code outputs_seal_add_file(struct outputs_seal *seal, const char *folder,
                                      const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct checksum sum = {0};
    uint64_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", folder, name);
    if (rc == ERROR_NONE)
        rc = checksum_of_file(path, &sum, &size, err);
    return rc == ERROR_NONE ? outputs_seal_add(seal, name, size, &sum, err) : rc;
}

/* The line of one file, "name bytes hash", and where the next one begins. */
struct file_line {
    const char *text;
    int size; /* without the line feed */
    char name[256];
    uint64_t bytes;
};

static enum error_code take_line(const char **rest, struct file_line *out, struct error *err)
{
    const char *text = *rest;
    const size_t size = strcspn(text, "\n"), word = strcspn(text, " \n");
    const size_t number = word < size ? strcspn(text + word + 1, " \n") : 0;
    int64_t bytes = -1;
    if (word == 0 || word >= sizeof out->name || !text_int64(text + word + 1, number, &bytes) ||
        bytes < 0)
        return error_set(err, ERROR_CORRUPT, "outputs seal: not a file line: %.80s", text);
    *out = (struct file_line){.text = text, .size = (int)size, .bytes = (uint64_t)bytes};
    memcpy(out->name, text, word);
    *rest = text + size + (text[size] == '\n');
    return ERROR_NONE;
}

enum error_code outputs_seal_check_sizes(const struct outputs_seal *seal, const char *folder,
                                         uint64_t *bytes, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *bytes = 0;
    for (const char *rest = seal->files; *rest && rc == ERROR_NONE;) {
        struct file_line line;
        char path[FILE_PATH_SIZE];
        uint64_t found = 0;
        rc = take_line(&rest, &line, err);
        if (rc == ERROR_NONE)
            rc = file_path(path, err, "%s/%s", folder, line.name);
        if (rc == ERROR_NONE)
            rc = file_size(path, &found, err);
        if (rc == ERROR_NONE && found != line.bytes)
            rc = error_set(err, ERROR_CORRUPT, "%s: expected %" PRIu64 " bytes, found %" PRIu64,
                           path, line.bytes, found);
        *bytes += found;
    }
    return rc;
}

enum error_code outputs_seal_check(const struct outputs_seal *seal, const char *folder,
                                   struct error *err)
{
    struct outputs_seal again = {0};
    for (const char *rest = seal->files; *rest;) {
        struct file_line line;
        const size_t before = strlen(again.files);
        enum error_code rc = take_line(&rest, &line, err);
        if (rc == ERROR_NONE)
            rc = outputs_seal_add_file(&again, folder, line.name, err);
        if (rc != ERROR_NONE)
            return rc;
        const char *found = again.files + before;
        const int found_size = (int)strcspn(found, "\n");
        if (found_size != line.size || memcmp(found, line.text, (size_t)found_size) != 0)
            return error_set(err, ERROR_CORRUPT, "%s/%s: expected '%.*s', found '%.*s'", folder,
                             line.name, line.size, line.text, found_size, found);
    }
    return ERROR_NONE;
}

static enum error_code acquire_sealed(struct store *store, const char *key,
                                      const struct outputs_seal *seal, struct artifact_handle *out,
                                      struct error *err)
{
    const struct artifact_request request = {.store = store, .key = key};
    enum error_code rc = ERROR_CORRUPT;
    for (int i = 0; rc == ERROR_CORRUPT && i < READS; i++) {
        rc = artifact_acquire(&request, out, err);
        if (rc != ERROR_NONE)
            return rc;
        rc = outputs_seal_check(seal, out->path, err);
        if (rc == ERROR_CORRUPT)
            artifact_discard(out);
        else if (rc != ERROR_NONE)
            artifact_release(out);
    }
    return rc;
}

enum error_code outputs_acquire(struct store *store, const char *key,
                                const struct outputs_seal *seal, struct artifact_handle *out,
                                struct error *err)
{
    struct outputs_seal *stored = NULL;
    char seal_key[KEY_SIZE];
    const struct artifact_request in_place = {.store = store, .key = key};
    *out = (struct artifact_handle){.path = ""};
    if (store_capabilities(store) & STORE_HAS_PATHS)
        return artifact_acquire(&in_place, out, err);
    if (seal)
        return acquire_sealed(store, key, seal, out, err);
    (void)snprintf(seal_key, sizeof seal_key, "%.190s_seal", key);
    enum error_code rc = memory_new(&stored, 1, "a seal", err);
    if (rc == ERROR_NONE)
        rc = outputs_seal_get(store, seal_key, NULL, stored, err);
    if (rc == ERROR_NONE)
        rc = acquire_sealed(store, key, stored, out, err);
    memory_free(stored);
    return rc;
}
