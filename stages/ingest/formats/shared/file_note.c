#include "stages/ingest/formats/shared/file_note.h"

#include "common/base/log.h"
#include "stages/plan/model/identity_digits.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { NOTE_SIZE = 256, NS_A_MS = 1000000, MS_A_S = 1000 };

/* Writes the state of a file without its checksum, as text. *settled: nobody changed the file for
 * `settled_ms`. */
static bool describe(const char *path, int64_t settled_ms, char text[NOTE_SIZE], bool *settled)
{
    struct stat status;
    struct timespec now;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < FILE_NOTE_BYTES_MIN || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    const struct timespec times[] = {status.st_mtim, status.st_ctim};
    *settled = true;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const int64_t age_ms =
            (now.tv_sec - times[i].tv_sec) * MS_A_S + (now.tv_nsec - times[i].tv_nsec) / NS_A_MS;
        *settled = *settled && age_ms >= settled_ms;
    }
    (void)snprintf(text, NOTE_SIZE, "%ju:%ju %jd %jd.%09ld %jd.%09ld", (uintmax_t)status.st_dev,
                   (uintmax_t)status.st_ino, (intmax_t)status.st_size,
                   (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                   (intmax_t)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    return true;
}

/* Returns whether the note has the same state, and its checksum. */
static bool recall(const struct file_notes *notes, const char *key, const char *state,
                   struct checksum *sum)
{
    char note[NOTE_SIZE + CHECKSUM_TEXT_SIZE];
    const size_t size = strlen(state);
    if (store_switch_get(notes->store, key, note, sizeof note, NULL) != ERROR_NONE)
        return false;
    return strncmp(note, state, size) == 0 && note[size] == ' ' &&
           checksum_parse(note + size + 1, sum);
}

static void remember(const struct file_notes *notes, const char *key, const char *state,
                     const struct checksum *sum)
{
    char note[NOTE_SIZE + CHECKSUM_TEXT_SIZE], digits[CHECKSUM_TEXT_SIZE];
    struct error err = {0};
    checksum_text(sum, digits);
    (void)snprintf(note, sizeof note, "%s %s", state, digits);
    /* If two processes set the note, either one may win: the note names the size and times of the
     * file that its checksum belongs to. */
    if (store_switch_set(notes->store, key, note, &err) != ERROR_NONE)
        log_debug("an input file is read again next time: %s", err.message);
}

enum error_code file_note_sum(const struct file_notes *notes, const char *path,
                              struct checksum *sum, uint64_t *size, struct error *err)
{
    char before[NOTE_SIZE], after[NOTE_SIZE], digits[IDENTITY_DIGITS_SIZE];
    bool settled = false, still_settled = false;
    if (!notes->store || !describe(path, notes->settled_ms, before, &settled))
        return checksum_of_file(path, sum, size, err);
    identity_digits("file", path, digits);
    const struct key key = key_current("file", digits);
    if (recall(notes, key.text, before, sum)) {
        /* NOLINTNEXTLINE(cert-err34-c): it is our own text */
        must(sscanf(before, "%*[0-9:] %" SCNu64, size) == 1);
        return ERROR_NONE;
    }
    const enum error_code rc = checksum_of_file(path, sum, size, err);
    if (rc == ERROR_NONE && settled && notes->may_set && describe(path, 0, after, &still_settled) &&
        strcmp(before, after) == 0)
        remember(notes, key.text, before, sum);
    return rc;
}
