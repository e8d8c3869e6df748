/*
 * own_command - how this program is called again, for lines that people paste into a shell.
 *
 * "graphmill" when a shell that looks along PATH would find this very program; else the path it was started by,
 * as graphmill is run from a build folder that is in no PATH.
 */
#ifndef PIPELINES_OWN_COMMAND_H
#define PIPELINES_OWN_COMMAND_H

#include "common/base/file.h"

enum {
    SHELL_WORD_SIZE = 4 * FILE_PATH_SIZE + 3
}; /* each byte an escaped quote, two quotes, and the end */

/* Remembers argv[0]; called once by main(). */
void own_command_remember(const char *argv0);
/* The first word of such a line, quoted where a shell would take it apart. Valid until the program ends. */
const char *own_command(void);
/* `text` as one word of a POSIX shell: itself when it has plain characters only, else in single quotes.
 * Returns `word`. */
const char *shell_word(const char *text, char word[SHELL_WORD_SIZE]);

#endif
