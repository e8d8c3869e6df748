/*
 * torch_members - unpacks the arrays of a file of torch.save() (.pt), without running any code of
 * it.
 *
 * It reads dictionaries of NumPy arrays and tensors, and dictionaries of such dictionaries, with
 * texts as keys; or one array alone:
 *
 *   since torch 1.6   a zip archive: <any>/data.pkl, the pickle; <any>/data/<name>, the elements of
 *                     a storage; <any>/byteorder
 *   before            three pickles (torch's magic number, 1001, the sizes of types), the pickle of
 *                     the dictionary, and one with a list of storages' names; then for each storage
 *                     the number of elements in 8 bytes, and the elements
 *   pickle.dump()     the pickle alone
 *
 * Each array becomes a file in a folder of the caller, like those of an npz (npz_members.h), from
 * which npy_reader reads it in pieces: memory is bounded, and an array needs as much disk space as
 * it has bytes (a NumPy array temporarily twice that).
 *
 * Nothing in the file is trusted: only a closed list of contents is accepted (pickle_arrays.h), and
 * all else is refused, with its byte offset.
 *
 * Format: torch/serialization.py.
 */
#ifndef COMMON_FORMATS_ARRAYS_TORCH_MEMBERS_H
#define COMMON_FORMATS_ARRAYS_TORCH_MEMBERS_H

#include "common/base/error.h"

/* The name of the array in a file with one array alone. */
#define TORCH_MEMBERS_ALONE "array"

/* Writes the arrays of the file `path` as <folder>/<key>.npy, and those of a dictionary in the
 * dictionary as <folder>/<key>.<key>.npy. The folder must exist. Fails: ERROR_NOT_FOUND;
 * ERROR_INPUT naming the file and the byte or the key, what was expected and what was found;
 * ERROR_IO; ERROR_NO_SPACE; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code torch_members_unpack(const char *path, const char *folder,
                                                struct error *err);

#endif
