#include "store/records/outputs_seal.h"

#include "common/base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 2 };

enum error_code outputs_seal_put(struct store *store, const char *key, const char *run_id,
                                 const struct outputs_seal *seal, struct error *err)
{
    struct record record = {.kind = RECORD_OUTPUTS_SEAL, .version = VERSION};
    record_add_text(&record, "files", seal->files);
    record_add_text(&record, "metrics", seal->metrics);
    weights_identity_add(&record, &seal->weights);
    return store_put(store, key, run_id, &record, STORE_DURABLE, err);
}

enum error_code outputs_seal_get(struct store *store, const char *key, const char *run_id,
                                 struct outputs_seal *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, key, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_expect(&view, RECORD_OUTPUTS_SEAL, VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(&view, "files", out->files, sizeof out->files, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(&view, "metrics", out->metrics, sizeof out->metrics, err);
    if (rc == ERROR_NONE)
        rc = weights_identity_get(&view, &out->weights, err);
    store_release_record(&view);
    return rc;
}

enum error_code outputs_seal_add_file(struct outputs_seal *seal, const char *folder,
                                      const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE], digits[CHECKSUM_TEXT_SIZE];
    struct checksum sum = {0};
    uint64_t size = 0;
    enum error_code rc = file_path(path, err, "%s/%s", folder, name);
    if (rc == ERROR_NONE)
        rc = checksum_of_file(path, &sum, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    checksum_text(&sum, digits);
    const size_t used = strlen(seal->files);
    const int n = snprintf(seal->files + used, sizeof seal->files - used, "%s %" PRIu64 " %s\n",
                           name, size, digits);
    if (n < 0 || (size_t)n >= sizeof seal->files - used)
        return error_set(err, ERROR_INVALID, "more output files than a seal holds: %s", name);
    return ERROR_NONE;
}

enum error_code outputs_seal_check(const struct outputs_seal *seal, const char *folder,
                                   struct error *err)
{
    struct outputs_seal again = {0};
    for (const char *line = seal->files; *line;) {
        char name[256];
        const size_t size = strcspn(line, "\n"), word = strcspn(line, " \n");
        const size_t before = strlen(again.files);
        if (word == 0 || word >= sizeof name)
            return error_set(err, ERROR_CORRUPT, "outputs seal: not a file line: %.80s", line);
        memcpy(name, line, word);
        name[word] = '\0';
        const enum error_code rc = outputs_seal_add_file(&again, folder, name, err);
        if (rc != ERROR_NONE)
            return rc;
        if (strncmp(again.files + before, line, size) != 0)
            return error_set(err, ERROR_CORRUPT, "%s/%s: expected '%.*s', found '%.*s'", folder,
                             name, (int)size, line, (int)strcspn(again.files + before, "\n"),
                             again.files + before);
        line += size + (line[size] == '\n');
    }
    return ERROR_NONE;
}
