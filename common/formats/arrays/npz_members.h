/*
 * npz_members - unpacks the arrays of NumPy's .npz files.
 *
 * A .npz is a zip archive with a member "<name>.npy" for each array, stored or deflated
 * (numpy.savez, numpy.savez_compressed; zip64 above 4 GiB). Each array becomes a file in a folder
 * of the caller, from which npy_reader reads it in pieces: memory is bounded, and an array needs as
 * much disk space as it has bytes.
 *
 * Nothing in the archive is trusted: a member that is no .npy with a plain name is skipped; a
 * member that unpacks to more bytes than its own header says, or a repeated name, is refused.
 *
 * Format: numpy.lib.npyio; zip by zip_archive.h.
 */
#ifndef COMMON_FORMATS_ARRAYS_NPZ_MEMBERS_H
#define COMMON_FORMATS_ARRAYS_NPZ_MEMBERS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Called with the name of each array, without ".npy". Returns false if it is not to be unpacked. */
typedef bool (*npz_chooser)(void *context, const char *name);

/* Writes the chosen arrays of the file `path` as <folder>/<name>.npy; for `choose` NULL all of
 * them. Fails: ERROR_NOT_FOUND; ERROR_INPUT naming the file and the member, what was expected and
 * what was found; ERROR_IO, also if the folder has a file of that name; ERROR_NO_SPACE;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code npz_members_unpack(const char *path, const char *folder,
                                              npz_chooser choose, void *context, struct error *err);

/* Reads the bytes of the array `name` as text into out [size], with NUL; numpy stores words in this
 * way, such as scipy's "format". Fails: ERROR_INPUT when there is no such array, or it is longer;
 * otherwise as above. */
MUST_CHECK enum error_code npz_members_text(const char *path, const char *name, char *out,
                                            size_t size, struct error *err);

#endif
