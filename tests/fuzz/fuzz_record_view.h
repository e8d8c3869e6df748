/*
 * fuzz_record_view - a record's sections out of a fuzzer's bytes.
 *
 * A record's hashes would turn away nearly every input before a reader of one kind sees it. So the input
 * describes what record_decode() hands on: any sections, of any type, length and content, inside bounds
 * and aligned. Per section: one byte for the name, one for the type, two for the element count, then
 * the elements, as far as there are any. Each has a heap block of just its size, so that the sanitizer sees a
 * reader that goes a byte too far.
 */
#ifndef TESTS_FUZZ_FUZZ_RECORD_VIEW_H
#define TESTS_FUZZ_FUZZ_RECORD_VIEW_H

#include "store/objects/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes one section off the input; false at its end. */
static inline bool fuzz_take_section(const uint8_t **data, size_t *size, const char *const *names,
                                     size_t name_count, struct record_section *out)
{
    if (*size < 4)
        return false;
    const enum element_type type = (enum element_type)((*data)[1] % (ELEMENT_F64 + 1));
    uint64_t count = (uint64_t)(*data)[2] | (uint64_t)(*data)[3] << 8;
    const size_t width = element_size(type) ? element_size(type) : 1;
    (void)snprintf(out->name, sizeof out->name, "%s", names[(*data)[0] % name_count]);
    *data += 4;
    *size -= 4;
    if (count * width > *size)
        count = *size / width;
    void *elements = NULL;
    must(posix_memalign(&elements, 64, count * width) == 0);
    if (count)
        memcpy(elements, *data, count * width);
    out->type = type;
    out->count = count;
    out->data = elements;
    *data += count * width;
    *size -= count * width;
    return true;
}

static inline void fuzz_record_view(const uint8_t *data, size_t size, enum record_kind kind,
                                    const char *const *names, size_t name_count,
                                    struct record_view *view)
{
    *view = (struct record_view){.kind = kind, .version = 1, .key = "fuzz"};
    while (view->section_count < RECORD_SECTION_COUNT_MAX &&
           fuzz_take_section(&data, &size, names, name_count, &view->section[view->section_count]))
        view->section_count++;
}

static inline void fuzz_record_view_release(struct record_view *view)
{
    for (uint32_t i = 0; i < view->section_count; i++) {
        void *elements = NULL;
        memcpy(&elements, &view->section[i].data, sizeof elements); /* const only for readers */
        free(elements);
    }
}

#endif
