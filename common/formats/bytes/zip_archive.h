/*
 * zip_archive - reads the members of a zip file, in order or by name, each from front to back.
 *
 * It supports stored and deflated members, and zip64 above 4 GiB. When a member was read to its
 * end, its CRC-32 must match the archive's, otherwise it is refused as damaged. Only requested
 * members are unpacked, and never more at a time than the caller's buffer holds.
 *
 * Format: PKWARE's APPNOTE, by minizip, which comes with zlib.
 */
#ifndef COMMON_FORMATS_BYTES_ZIP_ARCHIVE_H
#define COMMON_FORMATS_BYTES_ZIP_ARCHIVE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { ZIP_NAME_SIZE = 129 }; /* of a member's name, NUL included; longer names are cut */

struct zip_archive {  /* {0} is closed */
    const char *path; /* borrowed */
    void *handle;
    bool is_started, has_member;
    char member[ZIP_NAME_SIZE]; /* the open member */
};

/* Opens an archive. `what` is what the file should be, for messages: "an archive of NumPy arrays
 * (numpy.savez)". Fails: ERROR_NOT_FOUND; ERROR_INPUT for a file that is no archive, or is
 * truncated. */
MUST_CHECK enum error_code zip_archive_open(struct zip_archive *archive, const char *path,
                                            const char *what, struct error *err);
void zip_archive_close(struct zip_archive *archive);

/* Finishes the open member and opens the next one, archive->member; *found is false after the last.
 * Fails: ERROR_INPUT for a damaged archive. */
MUST_CHECK enum error_code zip_archive_next(struct zip_archive *archive, bool *found,
                                            struct error *err);
/* Does the same for the first member of that name. */
MUST_CHECK enum error_code zip_archive_find(struct zip_archive *archive, const char *name,
                                            bool *found, struct error *err);
/* Reads up to `size` bytes of the open member; fewer (*got) only at its end. */
MUST_CHECK enum error_code zip_archive_read(struct zip_archive *archive, void *out, size_t size,
                                            size_t *got, struct error *err);
/* Closes the open member. Fails: ERROR_INPUT when all of it was read and its CRC does not match. */
MUST_CHECK enum error_code zip_archive_finish(struct zip_archive *archive, struct error *err);

#endif
