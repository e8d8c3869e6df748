/* fuzz_yaml - whatever the bytes, a settings file is refused by line or is a list of unlike names. */
#include "common/base/error.h"
#include "common/base/yaml.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct yaml_file file = {0};
    if (yaml_parse((const char *)data, size, "fuzz.yaml", &file, &err) != ERROR_NONE) {
        must(err.code == ERROR_INVALID && strncmp(err.message, "fuzz.yaml:", 10) == 0);
        must(!file.entry && !file.count);
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        must(file.entry[i].line >= 1);
        must(memchr(file.entry[i].name, '\0', YAML_NAME_SIZE));
        must(memchr(file.entry[i].value, '\0', YAML_VALUE_SIZE));
        for (size_t k = 0; k < i; k++)
            must(strcmp(file.entry[i].name, file.entry[k].name) != 0);
    }
    yaml_file_release(&file);
    return 0;
}
