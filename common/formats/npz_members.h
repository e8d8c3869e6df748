/*
 * npz_members - the arrays of NumPy's .npz files, unpacked.
 *
 * A .npz is a zip archive with a member "<name>.npy" for each array, stored or deflated (numpy.savez,
 * numpy.savez_compressed; zip64 above 4 GiB). Each becomes a file of its own in a folder of the caller, where
 * npy_reader reads it in pieces: memory is bounded, and an array takes as much disk as it has bytes.
 *
 * Nothing of the archive is trusted: members that are no .npy of a plain name are passed over, one that unpacks to more bytes
 * than its own header says is refused there, and so is a name that comes twice.
 *
 * Format: numpy.lib.npyio; zip by zip_archive.h.
 */
#ifndef COMMON_FORMATS_NPZ_MEMBERS_H
#define COMMON_FORMATS_NPZ_MEMBERS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Called with the name of each array, without ".npy"; false: it is not unpacked. */
typedef bool (*npz_chooser)(void *context, const char *name);

/* Writes the chosen arrays of the file `path` as <folder>/<name>.npy. `choose` NULL: all of them.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming the file and the member, what was expected and what was found; ERROR_IO, also
 * for a file of that name in the folder; ERROR_NO_SPACE; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code npz_members_unpack(const char *path, const char *folder,
                                              npz_chooser choose, void *context, struct error *err);

/* The bytes of the array `name` as text, which is how numpy stores a word such as scipy's "format": into out [size], with NUL.
 * Fails: ERROR_INPUT when there is no such array, or it is longer; else as above. */
MUST_CHECK enum error_code npz_members_text(const char *path, const char *name, char *out,
                                            size_t size, struct error *err);

#endif
