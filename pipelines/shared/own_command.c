#include "pipelines/shared/own_command.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char remembered[FILE_PATH_SIZE] = "graphmill";

void own_command_remember(const char *argv0)
{
    if (argv0 && argv0[0])
        (void)snprintf(remembered, sizeof remembered, "%s", argv0);
}

/* Returns whether `path` names the running program. */
static bool is_this_program(const char *path)
{
    struct stat own, other;
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* Returns whether a shell finds this program. A shell takes the first "graphmill" on PATH, so only
 * that one counts. */
static bool path_finds_it(void)
{
    const char *rest = getenv("PATH");
    while (rest && *rest) {
        const size_t size = strcspn(rest, ":");
        char path[FILE_PATH_SIZE];
        struct stat found;
        const int used = snprintf(path, sizeof path, "%.*s/graphmill", (int)size, rest);
        if (size > 0 && used > 0 && (size_t)used < sizeof path && stat(path, &found) == 0 &&
            S_ISREG(found.st_mode))
            return is_this_program(path);
        rest += size + (rest[size] == ':');
    }
    return false;
}

const char *own_command(void)
{
    static char word[SHELL_WORD_SIZE];
    if (!word[0])
        (void)shell_word(path_finds_it() ? "graphmill" : remembered, word);
    return word;
}

const char *shell_word(const char *text, char word[SHELL_WORD_SIZE])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@%+,";
    size_t used = 0;
    if (text[0] && text[strspn(text, plain)] == '\0') {
        (void)snprintf(word, SHELL_WORD_SIZE, "%s", text);
        return word;
    }
    word[used++] = '\'';
    for (; *text && used + 6 < SHELL_WORD_SIZE; text++)
        if (*text == '\'') {
            memcpy(word + used, "'\\''", 4);
            used += 4;
        } else {
            word[used++] = *text;
        }
    word[used++] = '\'';
    word[used] = '\0';
    return word;
}
