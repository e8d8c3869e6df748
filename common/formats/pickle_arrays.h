/*
 * pickle_arrays - the arrays in a Python pickle, without Python and without running anything.
 *
 * A pickle is a program for a small stack machine that may call any function of any module. Here it may do what a dictionary of
 * arrays needs and nothing else: texts, numbers, tuples, lists, dictionaries, NumPy arrays, and torch's tensors (whose elements lie
 * elsewhere, torch_members.h). The classes that it may name are those of the table in the source file, none of which is run: each stands
 * for the one thing that it makes of its arguments. All else, be it an operation, a class or a form of one, is refused with the
 * byte where it stands, what was expected and what was found.
 *
 * Bytes of arrays go to a scratch file of the caller as they are read, so memory is bounded: what is kept is at most
 * PICKLE_VALUE_MAX values of about a hundred bytes and 1 MiB of short texts.
 *
 * Read: protocols 2 to 5 (Python 3), NumPy 1 and 2, torch's tensors of one device without views' metadata.
 * Format: Python's Lib/pickletools.py, numpy/_core/multiarray (array.__reduce__) and torch/_utils.py.
 */
#ifndef COMMON_FORMATS_PICKLE_ARRAYS_H
#define COMMON_FORMATS_PICKLE_ARRAYS_H

#include "common/base/error.h"
#include "common/formats/npy_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PICKLE_VALUE_MAX = 1 << 16, PICKLE_TEXT_MAX = 255 /* longer ones are bytes */ };

enum pickle_kind {
    PICKLE_UNKNOWN,
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INTEGER,
    PICKLE_MAGIC, /* the number that torch's older files begin with */
    PICKLE_TEXT,
    PICKLE_BYTES,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICTIONARY,
    PICKLE_CLASS,
    PICKLE_TYPE, /* a dtype */
    PICKLE_ARRAY,
    PICKLE_STORAGE,
    PICKLE_TENSOR /* an array whose elements are in a storage */
};

struct pickle_array {
    char descr[4]; /* as NumPy writes it: "<i8" */
    uint32_t item_size, dimension_count;
    uint64_t shape[NPY_DIMENSION_MAX];
    bool is_by_columns;     /* Fortran order */
    uint64_t element_count; /* product of the shape */
    uint64_t first;         /* byte of the scratch file; of a tensor, element of its storage */
    uint32_t storage;       /* of a tensor: the value */
};

struct pickle_value {
    enum pickle_kind kind;
    uint64_t offset;     /* where in the pickle it begins */
    int64_t number;      /* of numbers; of a storage how many elements it has */
    uint32_t head, tail; /* of containers: items, by place plus one; keys and values in turn */
    uint32_t count;      /* items */
    uint64_t first,
        size; /* of bytes: in the scratch file; of a text, and a storage's name: in `texts`, NUL behind it */
    struct pickle_array
        array; /* of arrays and tensors; of types and storages descr and item_size */
};

struct pickle_item {
    uint32_t value, next;
};

struct pickle_source {
    const char *name; /* for messages */
    void *context;
    /* Up to `size` bytes; fewer (*got) only at the end. */
    enum error_code (*read)(void *context, void *out, size_t size, size_t *got, struct error *err);
    int scratch;              /* a file for the bytes of arrays, open for writing */
    uint64_t scratch_size;    /* bytes in it; grows */
    const char *scratch_path; /* for messages */
};

struct pickle_arrays { /* {0} is empty and releasable */
    uint32_t root;     /* the value that the pickle makes */
    struct pickle_value *value;
    struct pickle_item *item;
    char *texts;
    size_t value_count, value_capacity, item_count, item_capacity, text_size, text_capacity;
    uint64_t size; /* bytes that the pickle takes of its source */
};

/* Reads one pickle. Owns: *out, also after a failure; release with pickle_arrays_release().
 * Fails: ERROR_INPUT naming the byte, what was expected and what was found; ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pickle_arrays_read(struct pickle_arrays *out,
                                              struct pickle_source *source, struct error *err);
void pickle_arrays_release(struct pickle_arrays *arrays);

/* The i-th item of a container, i below its count. */
const struct pickle_value *pickle_arrays_item(const struct pickle_arrays *arrays,
                                              const struct pickle_value *of, uint32_t i);
/* The text of a PICKLE_TEXT, or the name of a storage. Borrowed. */
const char *pickle_arrays_text(const struct pickle_arrays *arrays,
                               const struct pickle_value *value);
/* "a list", "a tensor": for messages. */
const char *pickle_kind_name(enum pickle_kind kind);

#endif
