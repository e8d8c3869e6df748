/*
 * pickle_machine - the state that the parts of pickle_arrays share: operations (pickle_arrays.c),
 * texts and bytes (pickle_text.c) and classes (pickle_classes.c).
 */
#ifndef COMMON_FORMATS_ARRAYS_PICKLE_MACHINE_H
#define COMMON_FORMATS_ARRAYS_PICKLE_MACHINE_H

#include "common/formats/arrays/pickle_arrays.h"

enum {
    PICKLE_PIECE_BYTES = 1 << 16,
    PICKLE_DEPTH_MAX = 4096, /* depth of the stack */
    PICKLE_MARK_MAX = 256,
    PICKLE_NAME_SIZE = 96 /* of the name of a class */
};

struct pickle_machine { /* the state of one run */
    struct pickle_source *source;
    struct pickle_arrays *out;
    uint8_t *piece; /* [PICKLE_PIECE_BYTES] */
    size_t at, got; /* offset in the piece, and its size */
    uint64_t base;  /* bytes before the piece */
    uint64_t begin; /* byte where the current operation begins */
    uint32_t stack[PICKLE_DEPTH_MAX], depth;
    uint32_t mark[PICKLE_MARK_MAX], mark_count;
    uint32_t *memo; /* [memo_count]: values, by place plus one; 0: none */
    size_t memo_count, memo_capacity;
    bool is_done;
};

/* Fails with ERROR_INPUT: "<name>: byte <where>: expected <expected>, found <found>". */
MUST_CHECK enum error_code pickle_machine_refuse(const struct pickle_machine *machine,
                                                 uint64_t where, const char *expected,
                                                 const char *found, struct error *err);
/* Adds a value, zeroed except for its kind and the byte where it begins. Borrowed until the next
 * one. */
MUST_CHECK enum error_code pickle_machine_add(struct pickle_machine *machine, enum pickle_kind kind,
                                              uint32_t *place, struct error *err);
/* Writes bytes to the scratch file. */
MUST_CHECK enum error_code pickle_machine_keep(struct pickle_machine *machine, const void *data,
                                               size_t size, struct error *err);

/* Makes sure that the piece has a byte left. Fails: ERROR_INPUT at the end of the source. */
MUST_CHECK enum error_code pickle_machine_fill(struct pickle_machine *machine, struct error *err);
enum error_code pickle_machine_ended(const struct pickle_machine *machine, struct error *err);
/* Read the next `size` bytes; as a number they are at most 8, little-endian. */
MUST_CHECK enum error_code pickle_machine_take(struct pickle_machine *machine, void *out,
                                               size_t size, struct error *err);
MUST_CHECK enum error_code pickle_machine_take_number(struct pickle_machine *machine, size_t size,
                                                      uint64_t *value, struct error *err);
MUST_CHECK enum error_code pickle_machine_push(struct pickle_machine *machine, uint32_t place,
                                               struct error *err);
/* Pushes a text or bytes, preceded by their length in `width` bytes. */
MUST_CHECK enum error_code pickle_text_take(struct pickle_machine *machine, size_t width,
                                            bool is_text, struct error *err);

/* Finds the class module.name, as a value. Fails: ERROR_INPUT for a class that is not in the
 * table. */
MUST_CHECK enum error_code pickle_class_find(struct pickle_machine *machine, const char *module,
                                             const char *name, uint32_t *place, struct error *err);
/* Makes the value that a class makes of a tuple of arguments. */
MUST_CHECK enum error_code pickle_class_call(struct pickle_machine *machine, uint32_t class_place,
                                             uint32_t arguments, uint32_t *place,
                                             struct error *err);
/* Sets the state of the value at `place` (BUILD). */
MUST_CHECK enum error_code pickle_class_build(struct pickle_machine *machine, uint32_t place,
                                              uint32_t state, struct error *err);
/* Makes the storage that a tuple names (BINPERSID). */
MUST_CHECK enum error_code pickle_class_storage(struct pickle_machine *machine, uint32_t tuple,
                                                uint32_t *place, struct error *err);

#endif
