/* fuzz_torch_members - whatever the bytes, a file of torch is refused, or each array that comes out of it has the length of its header. */
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/arrays/torch_members.h"

#include "tests/fuzz/fuzz_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum error_code check_array(void *context, const char *name, struct error *err)
{
    struct npy_reader reader = {0};
    char path[FILE_PATH_SIZE];
    (void)context;
    if (strcmp(name, "input") == 0)
        return ERROR_NONE;
    must(file_path(path, err, "%s/%s", fuzz_folder(), name) == ERROR_NONE);
    must(npy_reader_open(&reader, path, err) == ERROR_NONE ||
         strstr(err->message, "Fortran order"));
    npy_reader_close(&reader);
    return ERROR_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    const char *path = fuzz_file_write(data, size);
    if (torch_members_unpack(path, fuzz_folder(), &err) != ERROR_NONE)
        must(err.message[0]);
    else
        must(file_list(fuzz_folder(), check_array, NULL, &err) == ERROR_NONE);
    fuzz_folder_remove();
    return 0;
}
