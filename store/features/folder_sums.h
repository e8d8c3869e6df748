/*
 * folder_sums - sizes and hashes of the files of a sealed folder, in a file in the folder.
 *
 * A library that opens such a folder trusts its small files (the list of tables, the options) more
 * than its tables, whose blocks have checksums: a flipped bit in a small file can lead to a wrong
 * file name, or to an assertion. The small files are therefore hashed and checked before the
 * library reads them. The content of large tables (*.sst) is checked block by block when it is
 * read. Of these, only the size and the last 16 KiB are checked at first, because RocksDB parses
 * the properties there before it compares their checksum. A full verification hashes the whole
 * tables.
 *
 *   SUMS      "<hash, 32 hexadecimal digits> <size in bytes> <name>\n" for each file, by name, and
 *             "<hash> <size> <name> <hash of its end>\n" for each table; the last line is the hash
 *             of all lines before it
 */
#ifndef STORE_FEATURES_FOLDER_SUMS_H
#define STORE_FEATURES_FOLDER_SUMS_H

#include "common/base/error.h"

#include <stdbool.h>

MUST_CHECK enum error_code folder_sums_write(const char *folder, struct error *err);
/* Checks the files of `folder`; with `tables` also hashes the tables. Fails: ERROR_CORRUPT naming
 * `artifact`, file, expected and found; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code folder_sums_check(const char *folder, const char *artifact, bool tables,
                                             struct error *err);

#endif
