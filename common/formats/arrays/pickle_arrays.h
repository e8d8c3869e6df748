/*
 * pickle_arrays - reads the arrays in a Python pickle, without Python and without running any code
 * of it.
 *
 * A pickle is a program for a small stack machine that may call any function of any module. This
 * reader supports only what a dictionary of arrays needs: texts, numbers, tuples, lists,
 * dictionaries, NumPy arrays, and torch's tensors (whose elements are elsewhere, torch_members.h).
 * It accepts the classes in the table of the source file and runs none of them: each stands for the
 * one value that it makes of its arguments. Any other operation, class or form is refused, with its
 * byte offset, what was expected and what was found.
 *
 * Bytes of arrays are written to a scratch file of the caller as they are read, so memory is
 * bounded: at most PICKLE_VALUE_MAX values of about a hundred bytes and 1 MiB of short texts are
 * kept.
 *
 * Supported: protocols 2 to 5 (Python 3), NumPy 1 and 2, torch's tensors on one device without view
 * metadata. Format: Python's Lib/pickletools.py, numpy/_core/multiarray (array.__reduce__) and
 * torch/_utils.py.
 */
#ifndef COMMON_FORMATS_ARRAYS_PICKLE_ARRAYS_H
#define COMMON_FORMATS_ARRAYS_PICKLE_ARRAYS_H

#include "common/base/error.h"
#include "common/formats/arrays/npy_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PICKLE_VALUE_MAX = 1 << 16, PICKLE_TEXT_MAX = 255 /* longer texts are kept as bytes */ };

enum pickle_kind {
    PICKLE_UNKNOWN,
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INTEGER,
    PICKLE_MAGIC, /* the number at the start of torch's older files */
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
    char descr[4]; /* in NumPy's notation: "<i8" */
    uint32_t item_size, dimension_count;
    uint64_t shape[NPY_DIMENSION_MAX];
    bool is_by_columns;     /* Fortran order */
    uint64_t element_count; /* product of the shape */
    uint64_t first;         /* offset in the scratch file; for a tensor, element of its storage */
    uint32_t storage;       /* for a tensor: the value of its storage */
};

struct pickle_value {
    enum pickle_kind kind;
    uint64_t offset;     /* byte of the pickle where it begins */
    int64_t number;      /* for numbers; for a storage its number of elements */
    uint32_t head, tail; /* for containers: items, by place plus one; keys and values alternate */
    uint32_t count;      /* number of items */
    uint64_t first,
        /* for bytes: in the scratch file; for a text or a storage's name: in `texts`,
         * NUL-terminated */
        size;
    struct pickle_array
        array; /* for arrays and tensors; types and storages use descr and item_size */
};

struct pickle_item {
    uint32_t value, next;
};

struct pickle_source {
    const char *name; /* for messages */
    void *context;
    /* Reads up to `size` bytes; fewer (*got) only at the end. */
    enum error_code (*read)(void *context, void *out, size_t size, size_t *got, struct error *err);
    int scratch;              /* a file for the bytes of arrays, open for writing */
    uint64_t scratch_size;    /* bytes in it; it grows */
    const char *scratch_path; /* for messages */
};

struct pickle_arrays { /* {0} is empty and may be released */
    uint32_t root;     /* the value that the pickle describes */
    struct pickle_value *value;
    struct pickle_item *item;
    char *texts;
    size_t value_count, value_capacity, item_count, item_capacity, text_size, text_capacity;
    uint64_t size; /* bytes of the source that the pickle has */
};

/* Reads one pickle.
 * Owns: *out, also after a failure; release with pickle_arrays_release().
 * Fails: ERROR_INPUT naming the byte, what was expected and what was found; ERROR_IO,
 * ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pickle_arrays_read(struct pickle_arrays *out,
                                              struct pickle_source *source, struct error *err);
void pickle_arrays_release(struct pickle_arrays *arrays);

/* Returns the i-th item of a container; i is below its count. */
const struct pickle_value *pickle_arrays_item(const struct pickle_arrays *arrays,
                                              const struct pickle_value *of, uint32_t i);
/* Returns the text of a PICKLE_TEXT, or the name of a storage. Borrowed. */
const char *pickle_arrays_text(const struct pickle_arrays *arrays,
                               const struct pickle_value *value);
/* Returns "a list", "a tensor" and so on, for messages. */
const char *pickle_kind_name(enum pickle_kind kind);

#endif
