/*
 * torch_members - the arrays of a file of torch.save() (.pt), unpacked; nothing of it is run.
 *
 * Read are dictionaries of NumPy arrays and tensors, and dictionaries of such dictionaries, by texts as keys; or one array alone:
 *
 *   since torch 1.6   a zip archive: <any>/data.pkl, the pickle; <any>/data/<name>, the elements of a storage; <any>/byteorder
 *   before            three pickles (torch's magic number, 1001, the sizes of types), that of the dictionary, and that of a list of
 *                     storages' names; then for each of these the number of elements in 8 bytes, and the elements
 *   pickle.dump()     the pickle alone
 *
 * Each array becomes a file of its own in a folder of the caller, as those of an npz do (npz_members.h), where npy_reader
 * reads it in pieces: memory is bounded, and an array takes as much disk as it has bytes (one of NumPy twice that for a while).
 *
 * Nothing of the file is trusted: what may stand in it is a closed list (pickle_arrays.h), and all else is refused with its byte.
 *
 * Format: torch/serialization.py.
 */
#ifndef COMMON_FORMATS_TORCH_MEMBERS_H
#define COMMON_FORMATS_TORCH_MEMBERS_H

#include "common/base/error.h"

/* Name of the array of a file that is one alone. */
#define TORCH_MEMBERS_ALONE "array"

/* Writes the arrays of the file `path` as <folder>/<key>.npy, of a dictionary in the dictionary as <folder>/<key>.<key>.npy. The
 * folder is there. Fails: ERROR_NOT_FOUND; ERROR_INPUT naming the file and the byte or the key, what was expected and what was
 * found; ERROR_IO; ERROR_NO_SPACE; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code torch_members_unpack(const char *path, const char *folder,
                                                struct error *err);

#endif
