#include "common/formats/arrays/pickle_machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The kinds of classes, by what they make of their arguments. No class is run. */
enum class_kind {
    CLASS_UNKNOWN,
    CLASS_RECONSTRUCT, /* an array, whose state follows */
    CLASS_NDARRAY,     /* an argument of CLASS_RECONSTRUCT */
    CLASS_DTYPE,
    CLASS_FROM_BUFFER, /* an array, in protocol 5 */
    CLASS_ENCODE,      /* bytes, in protocol 2 */
    CLASS_BYTES,       /* empty bytes, in protocol 2 */
    CLASS_ORDERED,     /* an empty dictionary */
    CLASS_TENSOR,
    CLASS_OLD_TENSOR,
    CLASS_STORAGE
};

static const struct {
    const char *module, *name;
    enum class_kind kind;
    char descr[4]; /* for a storage */
} classes[] = {{"numpy.core.multiarray", "_reconstruct", CLASS_RECONSTRUCT, ""},
               {"numpy._core.multiarray", "_reconstruct", CLASS_RECONSTRUCT, ""},
               {"numpy", "ndarray", CLASS_NDARRAY, ""},
               {"numpy", "dtype", CLASS_DTYPE, ""},
               {"numpy.core.numeric", "_frombuffer", CLASS_FROM_BUFFER, ""},
               {"numpy._core.numeric", "_frombuffer", CLASS_FROM_BUFFER, ""},
               {"_codecs", "encode", CLASS_ENCODE, ""},
               {"__builtin__", "bytes", CLASS_BYTES, ""},
               {"builtins", "bytes", CLASS_BYTES, ""},
               {"collections", "OrderedDict", CLASS_ORDERED, ""},
               {"torch._utils", "_rebuild_tensor_v2", CLASS_TENSOR, ""},
               {"torch._utils", "_rebuild_tensor", CLASS_OLD_TENSOR, ""},
               {"torch", "LongStorage", CLASS_STORAGE, "<i8"},
               {"torch", "IntStorage", CLASS_STORAGE, "<i4"},
               {"torch", "ShortStorage", CLASS_STORAGE, "<i2"},
               {"torch", "CharStorage", CLASS_STORAGE, "|i1"},
               {"torch", "ByteStorage", CLASS_STORAGE, "|u1"},
               {"torch", "BoolStorage", CLASS_STORAGE, "|b1"},
               {"torch", "FloatStorage", CLASS_STORAGE, "<f4"},
               {"torch", "DoubleStorage", CLASS_STORAGE, "<f8"},
               {"torch", "HalfStorage", CLASS_STORAGE, "<f2"}};

/* Copies a text with only its printable characters, for a message. */
static void printable(const char *text, char *out, size_t size)
{
    size_t i = 0;
    for (; text[i] && i + 1 < size; i++)
        out[i] = (char)(text[i] > 0x20 && text[i] < 0x7f ? text[i] : '?');
    out[i] = '\0';
}

enum error_code pickle_class_find(struct pickle_machine *machine, const char *module,
                                  const char *name, uint32_t *place, struct error *err)
{
    char shown_module[PICKLE_NAME_SIZE], shown_name[PICKLE_NAME_SIZE];
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(module, classes[i].module) != 0 || strcmp(name, classes[i].name) != 0)
            continue;
        const enum error_code rc = pickle_machine_add(machine, PICKLE_CLASS, place, err);
        if (rc == ERROR_NONE)
            machine->out->value[*place].number = (int64_t)i;
        return rc;
    }
    printable(module, shown_module, sizeof shown_module);
    printable(name, shown_name, sizeof shown_name);
    return error_set(err, ERROR_INPUT,
                     "%s: byte %" PRIu64 ": expected a dictionary of NumPy arrays or tensors, "
                     "found %s.%s, which is not run: " ADVICE
                     "save such a dictionary anew with torch.save()",
                     machine->source->name, machine->begin, shown_module, shown_name);
}

/* --- arguments --- */

struct arguments {
    const struct pickle_machine *machine;
    uint32_t tuple; /* a place, because values move when one is added */
    const char *of; /* for messages */
};

static const struct pickle_value *tuple_of(const struct arguments *a)
{
    return &a->machine->out->value[a->tuple];
}

static const struct pickle_value *argument(const struct arguments *a, uint32_t i,
                                           enum pickle_kind kind)
{
    if (i >= tuple_of(a)->count)
        return NULL;
    const struct pickle_value *value = pickle_arrays_item(a->machine->out, tuple_of(a), i);
    return value->kind == kind ? value : NULL;
}

static enum error_code refuse(const struct arguments *a, const char *expected, struct error *err)
{
    char found[128];
    size_t size = (size_t)snprintf(found, sizeof found, "%s(", a->of);
    const struct pickle_value *tuple = tuple_of(a);
    for (uint32_t i = 0; i < tuple->count && i < 3 && size < sizeof found; i++)
        size +=
            (size_t)snprintf(found + size, sizeof found - size, "%s%s", i ? ", " : "",
                             pickle_kind_name(pickle_arrays_item(a->machine->out, tuple, i)->kind));
    if (size < sizeof found)
        (void)snprintf(found + size, sizeof found - size, "%s", tuple->count > 3 ? ", ...)" : ")");
    return pickle_machine_refuse(a->machine, a->machine->begin, expected, found, err);
}

static bool integers(const struct pickle_machine *machine, const struct pickle_value *tuple,
                     uint64_t out[NPY_DIMENSION_MAX])
{
    if (!tuple || tuple->count > NPY_DIMENSION_MAX)
        return false;
    for (uint32_t i = 0; i < tuple->count; i++) {
        const struct pickle_value *value = pickle_arrays_item(machine->out, tuple, i);
        if (value->kind != PICKLE_INTEGER || value->number < 0)
            return false;
        out[i] = (uint64_t)value->number;
    }
    return true;
}

/* Computes the shape in a tuple, and its elements and bytes. */
static bool take_shape(const struct pickle_machine *machine, const struct pickle_value *tuple,
                       struct pickle_array *array)
{
    uint64_t count = 1;
    if (!integers(machine, tuple, array->shape))
        return false;
    array->dimension_count = tuple->count;
    for (uint32_t d = 0; d < tuple->count; d++)
        if (__builtin_mul_overflow(count, array->shape[d], &count) || count > INT64_MAX / 16)
            return false;
    array->element_count = count;
    return true;
}

/* --- numpy --- */

/* Returns whether it is a type such as "i8" that npy_header.h reads. */
static bool is_number_type(const char *name)
{
    static const char *const names[] = {"i1", "i2", "i4", "i8", "u1", "u2",
                                        "u4", "f2", "f4", "f8", "b1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum error_code make_type(struct pickle_machine *machine, const struct arguments *a,
                                 uint32_t *place, struct error *err)
{
    const struct pickle_value *name = argument(a, 0, PICKLE_TEXT);
    char type[4] = "";
    if (name && name->size == 2)
        memcpy(type, pickle_arrays_text(machine->out, name), 2);
    if (!is_number_type(type)) {
        char found[PICKLE_NAME_SIZE] = "another";
        if (name)
            printable(pickle_arrays_text(machine->out, name), found, sizeof found);
        return pickle_machine_refuse(
            machine, machine->begin,
            "a dtype of integers or floats (i1 i2 i4 i8 u1 u2 u4 f2 f4 f8 b1)", found, err);
    }
    const enum error_code rc = pickle_machine_add(machine, PICKLE_TYPE, place, err);
    if (rc != ERROR_NONE)
        return rc;
    struct pickle_array *array = &machine->out->value[*place].array;
    (void)snprintf(array->descr, sizeof array->descr, "%c%c%c", type[1] == '1' ? '|' : '<', type[0],
                   type[1]);
    array->item_size = (uint32_t)(type[1] - '0');
    return ERROR_NONE;
}

/* Sets the state of a type from (3, '<', None, None, None, -1, -1, 0). */
static enum error_code build_type(struct pickle_machine *machine, struct pickle_value *type,
                                  const struct arguments *a, struct error *err)
{
    const struct pickle_value *order = argument(a, 1, PICKLE_TEXT);
    const char *order_text =
        order && order->size == 1 ? pickle_arrays_text(machine->out, order) : "";
    const char byte = order_text[0];
    if (!byte || !strchr("<>|=", byte) || !argument(a, 2, PICKLE_NONE) ||
        !argument(a, 3, PICKLE_NONE) || !argument(a, 4, PICKLE_NONE))
        return refuse(a, "the state of a dtype of plain numbers", err);
    if (type->array.item_size > 1 && byte == '>')
        type->array.descr[0] = '>';
    return ERROR_NONE;
}

/* Sets the bytes `data` as the array's elements. */
static enum error_code set_elements(const struct pickle_machine *machine,
                                    struct pickle_value *value, const struct pickle_value *type,
                                    const struct pickle_value *shape,
                                    const struct pickle_value *data, bool is_by_columns,
                                    struct error *err)
{
    struct pickle_array array = {0};
    char expected[96], found[64];
    if (!take_shape(machine, shape, &array))
        return pickle_machine_refuse(machine, machine->begin, "a shape of at most 4 dimensions",
                                     "another, or one that overflows", err);
    memcpy(array.descr, type->array.descr, sizeof array.descr);
    array.item_size = type->array.item_size;
    array.is_by_columns = is_by_columns && array.dimension_count > 1;
    array.first = data->first;
    if (array.element_count * array.item_size != data->size) {
        (void)snprintf(expected, sizeof expected,
                       "%" PRIu64 " bytes for %" PRIu64 " elements of %s",
                       array.element_count * array.item_size, array.element_count, array.descr);
        (void)snprintf(found, sizeof found, "%" PRIu64, data->size);
        return pickle_machine_refuse(machine, machine->begin, expected, found, err);
    }
    value->kind = PICKLE_ARRAY;
    value->array = array;
    return ERROR_NONE;
}

/* Sets the state of an array from (1, shape, dtype, is in Fortran order, bytes). */
static enum error_code build_array(struct pickle_machine *machine, struct pickle_value *value,
                                   const struct arguments *a, struct error *err)
{
    const struct pickle_value *shape = argument(a, 1, PICKLE_TUPLE);
    const struct pickle_value *type = argument(a, 2, PICKLE_TYPE);
    const struct pickle_value *by_columns = argument(a, 3, PICKLE_BOOL);
    const struct pickle_value *data = argument(a, 4, PICKLE_BYTES);
    if (!shape || !type || !by_columns || !data)
        return refuse(a, "the state of an array of numbers", err);
    return set_elements(machine, value, type, shape, data, by_columns->number != 0, err);
}

/* Makes an array from (bytes, dtype, shape, 'C'). */
static enum error_code make_from_buffer(struct pickle_machine *machine, const struct arguments *a,
                                        uint32_t *place, struct error *err)
{
    const enum error_code rc = pickle_machine_add(machine, PICKLE_ARRAY, place, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct pickle_value *data = argument(a, 0, PICKLE_BYTES);
    const struct pickle_value *type = argument(a, 1, PICKLE_TYPE);
    const struct pickle_value *shape = argument(a, 2, PICKLE_TUPLE);
    const struct pickle_value *order = argument(a, 3, PICKLE_TEXT);
    const char *order_text =
        order && order->size == 1 ? pickle_arrays_text(machine->out, order) : "";
    const char letter = order_text[0];
    if (!data || !type || !shape || (letter != 'C' && letter != 'F'))
        return refuse(a, "bytes, a dtype, a shape and an order", err);
    return set_elements(machine, &machine->out->value[*place], type, shape, data, letter == 'F',
                        err);
}

/* Makes bytes from a short text, whose characters below 256 are bytes. Longer texts were kept as
 * bytes already. */
static enum error_code make_bytes(struct pickle_machine *machine, const struct arguments *a,
                                  uint32_t *place, struct error *err)
{
    uint8_t bytes[PICKLE_TEXT_MAX];
    size_t count = 0;
    const struct pickle_value *text = argument(a, 0, PICKLE_TEXT);
    const struct pickle_value *coding = argument(a, 1, PICKLE_TEXT);
    if (!coding || strcmp(pickle_arrays_text(machine->out, coding), "latin1") != 0 ||
        (!text && !argument(a, 0, PICKLE_BYTES)))
        return refuse(a, "a text and 'latin1'", err);
    if (!text) {
        *place = (uint32_t)(argument(a, 0, PICKLE_BYTES) - machine->out->value);
        return ERROR_NONE;
    }
    const uint8_t *from = (const uint8_t *)pickle_arrays_text(machine->out, text);
    for (size_t i = 0; i < text->size; i++) {
        const bool is_wide = from[i] >= 0x80;
        if (is_wide && ((from[i] != 0xc2 && from[i] != 0xc3) || (from[i + 1] & 0xc0) != 0x80))
            return refuse(a, "bytes written as a text (latin1)", err);
        bytes[count++] = is_wide ? (uint8_t)((from[i] & 3) << 6 | (from[i + 1] & 0x3f)) : from[i];
        i += is_wide;
    }
    const uint64_t first = machine->source->scratch_size;
    enum error_code rc = pickle_machine_add(machine, PICKLE_BYTES, place, err);
    if (rc == ERROR_NONE)
        rc = pickle_machine_keep(machine, bytes, count, err);
    if (rc != ERROR_NONE)
        return rc;
    machine->out->value[*place].first = first;
    machine->out->value[*place].size = count;
    return ERROR_NONE;
}

/* --- torch --- */

/* Returns whether the elements are consecutive, in C order or, for a matrix, by columns. */
static bool is_dense(const struct pickle_array *array, const uint64_t stride[NPY_DIMENSION_MAX],
                     bool *is_by_columns)
{
    uint64_t expected = 1;
    bool is_c = true;
    for (uint32_t d = array->dimension_count; d-- > 0;) {
        is_c = is_c && (array->shape[d] == 1 || stride[d] == expected);
        expected *= array->shape[d];
    }
    *is_by_columns =
        !is_c && array->dimension_count == 2 && stride[0] == 1 && stride[1] == array->shape[0];
    return is_c || *is_by_columns || array->element_count == 0;
}

/* Makes a tensor from (storage, first element, shape, strides, ...). */
static enum error_code make_tensor(struct pickle_machine *machine, const struct arguments *a,
                                   uint32_t *place, struct error *err)
{
    struct pickle_array array = {0};
    uint64_t stride[NPY_DIMENSION_MAX] = {0};
    const struct pickle_value *storage = argument(a, 0, PICKLE_STORAGE);
    const struct pickle_value *first = argument(a, 1, PICKLE_INTEGER);
    const struct pickle_value *strides = argument(a, 3, PICKLE_TUPLE);
    if (!storage || !first || !strides ||
        !take_shape(machine, argument(a, 2, PICKLE_TUPLE), &array) ||
        !integers(machine, strides, stride) || strides->count != array.dimension_count)
        return refuse(a, "a storage, a place in it, a shape of at most 4 dimensions and strides",
                      err);
    if (!is_dense(&array, stride, &array.is_by_columns))
        return error_add(err,
                         pickle_machine_refuse(machine, machine->begin,
                                               "a tensor whose elements lie side by side",
                                               "other strides", err),
                         ": " ADVICE "save tensor.contiguous()");
    if (first->number < 0 || (uint64_t)first->number > (uint64_t)storage->number ||
        array.element_count > (uint64_t)(storage->number - first->number))
        return pickle_machine_refuse(machine, machine->begin, "a tensor that lies in its storage",
                                     "one that goes beyond its end", err);
    memcpy(array.descr, storage->array.descr, sizeof array.descr);
    array.item_size = storage->array.item_size;
    array.first = (uint64_t)first->number;
    array.storage = (uint32_t)(storage - machine->out->value);
    const enum error_code rc = pickle_machine_add(machine, PICKLE_TENSOR, place, err);
    if (rc == ERROR_NONE)
        machine->out->value[*place].array = array;
    return rc;
}

/* Makes a storage from ('storage', class, name, device, elements[, None]). */
enum error_code pickle_class_storage(struct pickle_machine *machine, uint32_t tuple,
                                     uint32_t *place, struct error *err)
{
    const struct arguments a = {machine, tuple, "a storage"};
    if (tuple_of(&a)->kind != PICKLE_TUPLE)
        return pickle_machine_refuse(machine, machine->begin, "a tuple that names a storage",
                                     pickle_kind_name(tuple_of(&a)->kind), err);
    const struct pickle_value *kind = argument(&a, 1, PICKLE_CLASS);
    const struct pickle_value *name = argument(&a, 2, PICKLE_TEXT);
    const struct pickle_value *count = argument(&a, 4, PICKLE_INTEGER);
    if (!argument(&a, 0, PICKLE_TEXT) || !kind || !name || !count || count->number < 0 ||
        count->number > INT64_MAX / 16 || classes[kind->number].kind != CLASS_STORAGE ||
        (tuple_of(&a)->count > 5 && !argument(&a, 5, PICKLE_NONE)))
        return refuse(&a, "'storage', a class of torch, a name, a device and a count", err);
    const char *descr = classes[kind->number].descr;
    const struct pickle_value own = {.kind = PICKLE_STORAGE,
                                     .offset = machine->begin,
                                     .number = count->number,
                                     .first = name->first,
                                     .size = name->size,
                                     .array = {.item_size = (uint32_t)(descr[2] - '0')}};
    const enum error_code rc = pickle_machine_add(machine, PICKLE_STORAGE, place, err);
    if (rc != ERROR_NONE)
        return rc;
    machine->out->value[*place] = own;
    memcpy(machine->out->value[*place].array.descr, descr, sizeof own.array.descr);
    return ERROR_NONE;
}

/* --- all --- */

enum error_code pickle_class_call(struct pickle_machine *machine, uint32_t class_place,
                                  uint32_t arguments, uint32_t *place, struct error *err)
{
    const struct pickle_value *class_value = &machine->out->value[class_place];
    const struct pickle_value *tuple = &machine->out->value[arguments];
    if (class_value->kind != PICKLE_CLASS || tuple->kind != PICKLE_TUPLE)
        return pickle_machine_refuse(machine, machine->begin, "a class and its arguments",
                                     pickle_kind_name(class_value->kind), err);
    const struct arguments a = {machine, arguments, classes[class_value->number].name};
    switch (classes[class_value->number].kind) {
    case CLASS_RECONSTRUCT:
        return pickle_machine_add(machine, PICKLE_ARRAY, place, err);
    case CLASS_DTYPE:
        return make_type(machine, &a, place, err);
    case CLASS_FROM_BUFFER:
        return make_from_buffer(machine, &a, place, err);
    case CLASS_ENCODE:
        return make_bytes(machine, &a, place, err);
    case CLASS_BYTES:
        return tuple->count ? refuse(&a, "bytes()", err)
                            : pickle_machine_add(machine, PICKLE_BYTES, place, err);
    case CLASS_ORDERED:
        return tuple->count ? refuse(&a, "OrderedDict()", err)
                            : pickle_machine_add(machine, PICKLE_DICTIONARY, place, err);
    case CLASS_TENSOR:
    case CLASS_OLD_TENSOR:
        return make_tensor(machine, &a, place, err);
    case CLASS_NDARRAY:
    case CLASS_STORAGE:
    case CLASS_UNKNOWN:
        break;
    }
    return refuse(&a, "a class that makes an array", err);
}

enum error_code pickle_class_build(struct pickle_machine *machine, uint32_t place, uint32_t state,
                                   struct error *err)
{
    struct pickle_value *value = &machine->out->value[place];
    const struct arguments a = {machine, state, pickle_kind_name(value->kind)};
    const bool is_tuple = tuple_of(&a)->kind == PICKLE_TUPLE;
    if (is_tuple && value->kind == PICKLE_TYPE)
        return build_type(machine, value, &a, err);
    if (is_tuple && value->kind == PICKLE_ARRAY)
        return build_array(machine, value, &a, err);
    return pickle_machine_refuse(machine, machine->begin, "an array or a dtype that has a state",
                                 pickle_kind_name(value->kind), err);
}
