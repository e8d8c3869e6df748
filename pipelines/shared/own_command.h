/*
 * own_command - the word that starts this program again, for command lines that people paste into a
 * shell.
 *
 * It is "graphmill" if a shell finds this very program by PATH. Otherwise it is the path by which
 * this program was started, as when graphmill is run from a build folder.
 */
#ifndef PIPELINES_SHARED_OWN_COMMAND_H
#define PIPELINES_SHARED_OWN_COMMAND_H

#include "common/files/file.h"

enum {
    SHELL_WORD_SIZE = 4 * FILE_PATH_SIZE + 3
}; /* each byte as an escaped quote, two quotes, and the NUL */

/* Stores argv[0]. main() calls it once. */
void own_command_remember(const char *argv0);
/* Returns the first word of such a line, in quotes if a shell would split it. It is valid until the
 * program ends. */
const char *own_command(void);
/* Writes `text` as one word of a POSIX shell: as it is if it has plain characters only, otherwise
 * in single quotes. Returns `word`. */
const char *shell_word(const char *text, char word[SHELL_WORD_SIZE]);

#endif
