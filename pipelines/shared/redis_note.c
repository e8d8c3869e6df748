#include "pipelines/shared/redis_note.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_BYTES_MAX = 2 * FILE_PATH_SIZE };

static const char file_name[] = "redis.url";

void redis_note_write(const char *folder, const char *url, const char *password_file)
{
    char path[FILE_PATH_SIZE], secret[FILE_PATH_SIZE] = "", text[NOTE_BYTES_MAX + 3];
    if (file_path(path, NULL, "%s/%s", folder, file_name) != ERROR_NONE)
        return;
    if (!url) {
        (void)unlink(path);
        return;
    }
    if (password_file && file_absolute(secret, password_file, NULL) != ERROR_NONE)
        return;
    const int size = snprintf(text, sizeof text, "%s\n%s%s", url, secret, secret[0] ? "\n" : "");
    if (size > 0 && (size_t)size < sizeof text &&
        file_replace(path, text, (size_t)size, false, NULL) != ERROR_NONE)
        (void)unlink(path); /* no note is better than a wrong one */
}

/* Copies one line of the text into `out`. Returns the text after it. */
static const char *take_line(const char *text, char out[FILE_PATH_SIZE])
{
    const size_t size = strcspn(text, "\n");
    (void)snprintf(out, FILE_PATH_SIZE, "%.*s", (int)size, text);
    return text + size + (text[size] == '\n');
}

bool redis_note_read(const char *folder, struct redis_note *out)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    *out = (struct redis_note){{0}, {0}};
    if (file_path(path, NULL, "%s/%s", folder, file_name) != ERROR_NONE ||
        file_read(path, NOTE_BYTES_MAX, &text, &size, NULL) != ERROR_NONE)
        return false;
    (void)take_line(take_line(text, out->url), out->password_file);
    memory_free(text);
    return out->url[0] != '\0';
}
