/*
 * folder_sums - sizes and hashes of the files of a sealed folder, in a file beside them.
 *
 * A library that opens a folder of its own trusts the small files in it (which tables there are, which
 * options) more than its tables, whose blocks have checksums: a flipped bit there can end in a wrong
 * file name, or in an assertion. So they are hashed here and checked before the library sees them. Of big
 * tables (*.sst), whose content is checked block by block when it is read, the size and the last 16 KiB are
 * checked then, and all of it when all is to be verified: RocksDB parses the properties, which lie there, before it
 * compares their checksum.
 *
 *   SUMS      "<hash, 32 hexadecimal digits> <size in bytes> <name>\n" for each file, by name, and
 *             "<hash> <size> <name> <hash of its end>\n" for each table; the last line is the hash of all lines
 *             before it
 */
#ifndef STORE_FEATURES_FOLDER_SUMS_H
#define STORE_FEATURES_FOLDER_SUMS_H

#include "common/base/error.h"

#include <stdbool.h>

MUST_CHECK enum error_code folder_sums_write(const char *folder, struct error *err);
/* `tables`: hashes the tables, too. Fails: ERROR_CORRUPT naming `artifact`, file, expected and found; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code folder_sums_check(const char *folder, const char *artifact, bool tables,
                                             struct error *err);

#endif
