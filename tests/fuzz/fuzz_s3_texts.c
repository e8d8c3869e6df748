/* fuzz_s3_texts - what comes from S3, and what a user writes to reach it. The first byte says which. */
#include "common/base/error.h"
#include "store/backends/artifact_manifest.h"
#include "store/backends/s3/s3_address.h"
#include "store/backends/s3/s3_profile.h"
#include "store/backends/s3/s3_xml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum error_code look(void *context, const char *element, const char *text, struct error *err)
{
    (void)err;
    *(size_t *)context += strlen(element) + strlen(text);
    return ERROR_NONE;
}

static void read_manifest(const char *text)
{
    char attempt[ARTIFACT_ATTEMPT_SIZE];
    struct artifact_file entry;
    if (artifact_manifest_check("key", text, attempt, NULL) != ERROR_NONE)
        return;
    must(strlen(attempt) == ARTIFACT_ATTEMPT_SIZE - 1);
    for (size_t i = 0; artifact_manifest_entry(text, i, &entry); i++)
        must(!strchr(entry.name, '/') && entry.name[0] != '.');
}

static void read_answer(const char *text)
{
    struct s3_failure failure;
    char token[32];
    size_t sum = 0;
    error_ignore(s3_xml_visit(text, strlen(text), look, &sum, NULL));
    error_ignore(s3_xml_find(text, strlen(text), "Key", token, sizeof token, NULL));
    if (!s3_xml_failure(text, strlen(text), &failure))
        must(!*failure.code && !*failure.message);
}

static void read_address(const char *text)
{
    struct s3_address address;
    if (s3_address_parse(text, &address, NULL) != ERROR_NONE)
        return;
    const size_t size = strlen(address.prefix);
    must(strlen(address.bucket) >= 3 && *address.host &&
         (!size || address.prefix[size - 1] == '/'));
    must(!strstr(address.prefix, "..") || !strstr(address.prefix, "/../"));
}

static void read_profile(const char *text)
{
    const char *value = NULL;
    size_t size = 0;
    for (int is_config = 0; is_config < 2; is_config++)
        if (s3_profile_find(text, is_config, "lab", "region", &value, &size))
            must(value >= text && value + size <= text + strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const char *) = {read_manifest, read_answer, read_address,
                                                    read_profile};
    if (!size)
        return 0;
    char *text = malloc(size); /* of just that size, for the sanitizer */
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    readers[data[0] % 4](text);
    free(text);
    return 0;
}
