#include "store/topology/topology_artifact.h"

#include <inttypes.h>

/* Compares the file with the seal. Fails: ERROR_CORRUPT. */
static enum error_code check_file(const char *path, const char *key,
                                  const struct topology_seal *seal, struct error *err)
{
    struct checksum found = {0};
    uint64_t size = 0;
    const enum error_code rc = checksum_of_file(path, &found, &size, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "artifact %s", key);
    if (size == seal->file_size && checksum_equal(&found, &seal->file))
        return ERROR_NONE;
    char expected_text[CHECKSUM_TEXT_SIZE], found_text[CHECKSUM_TEXT_SIZE];
    checksum_text(&seal->file, expected_text);
    checksum_text(&found, found_text);
    return error_set(err, ERROR_CORRUPT,
                     "artifact %s: expected hash %s of %" PRIu64 " bytes, found %s of %" PRIu64
                     " bytes",
                     key, expected_text, seal->file_size, found_text, size);
}

static enum error_code acquire(struct store *store, const char *key,
                               const struct topology_seal *seal, struct artifact_handle *out,
                               bool *was_copied, struct error *err)
{
    const struct artifact_request request = {
        .store = store, .key = key, .seal = &seal->file, .is_mapped = true};
    enum error_code rc = artifact_acquire(&request, out, err);
    *was_copied = rc == ERROR_NONE && out->is_copy;
    if (rc == ERROR_NONE && !(out->is_fresh && checksum_equal(&out->sum, &seal->file)))
        rc = check_file(out->path, key, seal, err);
    if (rc == ERROR_CORRUPT)
        artifact_discard(out);
    else if (rc != ERROR_NONE)
        artifact_release(out);
    return rc;
}

enum error_code topology_artifact_acquire(struct store *store, const char *key,
                                          const struct topology_seal *seal,
                                          struct artifact_handle *out, struct error *err)
{
    bool was_copied = false;
    const enum error_code rc = acquire(store, key, seal, out, &was_copied, err);
    /* The copy may have been damaged on the way: it is discarded, and downloaded once more. */
    return rc == ERROR_CORRUPT && was_copied ? acquire(store, key, seal, out, &was_copied, err)
                                             : rc;
}
