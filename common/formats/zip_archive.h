/*
 * zip_archive - the members of a zip file, one after the other or by name, as bytes front to back.
 *
 * Stored and deflated members, zip64 above 4 GiB. A member that was read to its end has the CRC-32 that the archive says, or is
 * refused as damaged. Nothing is unpacked that was not asked for, and never more at a time than the caller's buffer.
 *
 * Format: PKWARE's APPNOTE, by minizip, which comes with zlib.
 */
#ifndef COMMON_FORMATS_ZIP_ARCHIVE_H
#define COMMON_FORMATS_ZIP_ARCHIVE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { ZIP_NAME_SIZE = 129 }; /* of a member, NUL included; longer names are cut */

struct zip_archive {  /* {0} is closed */
    const char *path; /* borrowed */
    void *handle;
    bool is_started, has_member;
    char member[ZIP_NAME_SIZE]; /* the one that is open */
};

/* `what` the file should be stands in the message for another one: "an archive of NumPy arrays (numpy.savez)".
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT for what is no archive, or is cut off. */
MUST_CHECK enum error_code zip_archive_open(struct zip_archive *archive, const char *path,
                                            const char *what, struct error *err);
void zip_archive_close(struct zip_archive *archive);

/* Finishes with the open member and opens the next one, archive->member; *found is false behind the last. Fails: ERROR_INPUT for a damaged archive. */
MUST_CHECK enum error_code zip_archive_next(struct zip_archive *archive, bool *found,
                                            struct error *err);
/* The same of the first member of that name. */
MUST_CHECK enum error_code zip_archive_find(struct zip_archive *archive, const char *name,
                                            bool *found, struct error *err);
/* Up to `size` bytes of the open member; fewer (*got) only at its end. */
MUST_CHECK enum error_code zip_archive_read(struct zip_archive *archive, void *out, size_t size,
                                            size_t *got, struct error *err);
/* Closes the open member. Fails: ERROR_INPUT when all of it was read and its CRC is another. */
MUST_CHECK enum error_code zip_archive_finish(struct zip_archive *archive, struct error *err);

#endif
