#include "store/backends/s3_manifest.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char headline[] = "graphmill artifact v1 ";

/* "<16 digits> file" or "<16 digits> folder" behind the headline. */
static bool take_headline(const char *text, char attempt[S3_ATTEMPT_SIZE], bool *is_folder)
{
    const size_t digits = S3_ATTEMPT_SIZE - 1;
    if (strncmp(text, headline, sizeof headline - 1) != 0)
        return false;
    text += sizeof headline - 1;
    if (strspn(text, "0123456789abcdef") != digits)
        return false;
    memcpy(attempt, text, digits);
    attempt[digits] = '\0';
    text += digits;
    *is_folder = strncmp(text, " folder\n", 8) == 0;
    return *is_folder || strncmp(text, " file\n", 6) == 0;
}

static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : NULL;
}

static bool is_end(const char *line)
{
    return strcmp(line, "end\n") == 0;
}

/* "<size> <name>" */
static bool take_entry(const char *line, struct s3_file_entry *out)
{
    int64_t bytes = 0;
    const size_t digits = strspn(line, "0123456789");
    const char *name = line + digits + 1;
    if (digits == 0 || line[digits] != ' ' || !text_int64(line, digits, &bytes))
        return false;
    const size_t size = strcspn(name, "\n/");
    if (name[size] != '\n' || size == 0 || size >= sizeof out->name || name[0] == '.')
        return false;
    out->size = (uint64_t)bytes;
    (void)snprintf(out->name, sizeof out->name, "%.*s", (int)size, name);
    if (strcmp(out->name, "-") == 0)
        out->name[0] = '\0';
    return true;
}

enum error_code s3_manifest_check(const char *key, const char *text, char attempt[S3_ATTEMPT_SIZE],
                                  struct error *err)
{
    struct s3_file_entry entry;
    bool is_folder = false;
    int number = 1, unnamed = 0;
    const char *line = text;
    bool good = take_headline(text, attempt, &is_folder);
    while (good) {
        line = next_line(line);
        number++;
        if (!line || is_end(line))
            break;
        good = take_entry(line, &entry);
        unnamed += good && !*entry.name;
    }
    const int files = number - 2;
    if (good && line && (is_folder ? unnamed == 0 : files == 1 && unnamed == 1))
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "artifact %s: its manifest is damaged in line %d, expected \"%s<attempt> "
                     "file|folder\", a line \"<size> <name>\" for each file, and \"end\"",
                     key, number, headline);
}

bool s3_manifest_entry(const char *text, size_t index, struct s3_file_entry *out)
{
    const char *line = next_line(text);
    for (; line && index > 0 && !is_end(line); index--)
        line = next_line(line);
    return line && !is_end(line) && take_entry(line, out);
}
