/* fuzz_assignment_file - a file of part numbers. The first two bytes say how many nodes and parts are expected. */
#define _GNU_SOURCE /* memfd_create(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/files/file.h"
#include "common/formats/text/assignment_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    char path[64];
    if (size < 2)
        return 0;
    const uint32_t nodes = data[0], parts = data[1] ? data[1] : 1;
    uint32_t *part = malloc(nodes * sizeof *part + 1); /* of just that size, for the sanitizer */
    const int fd = memfd_create("assignment", MFD_CLOEXEC);
    must(fd >= 0 && part != NULL);
    must(file_write_all(fd, data + 2, size - 2, "memory", &err) == ERROR_NONE);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const enum error_code rc = assignment_file_read(path, parts, part, nodes, &err);
    must(rc == ERROR_NONE || rc == ERROR_INPUT);
    for (uint32_t i = 0; rc == ERROR_NONE && i < nodes; i++)
        must(part[i] < parts);
    (void)close(fd);
    free(part);
    return 0;
}
