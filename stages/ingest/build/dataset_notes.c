#include "stages/ingest/build/dataset_notes.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <string.h>

void dataset_notes_release(struct dataset_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        memory_free(notes->note[i].text);
    memory_free(notes->note);
    *notes = (struct dataset_notes){0};
}

/* Returns whether there is such a note. Several passes over a file may make the same note. */
static bool is_known(const struct dataset_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->note[i].text, text) == 0)
            return true;
    return false;
}

static enum error_code append(struct dataset_notes *notes, const struct dataset_note *note,
                              struct error *err)
{
    const enum error_code rc =
        memory_grow(&notes->note, &notes->capacity, notes->count + 1, "notes of the input", err);
    if (rc == ERROR_NONE)
        notes->note[notes->count++] = *note;
    return rc;
}

enum error_code dataset_notes_add(struct dataset_notes *notes, enum note_kind kind,
                                  struct error *err, const char *format, va_list values)
{
    char text[NOTE_SIZE];
    struct dataset_note note = {.kind = kind};
    (void)vsnprintf(text, sizeof text, format, values);
    if (is_known(notes, text))
        return ERROR_NONE;
    const size_t size = strlen(text) + 1;
    enum error_code rc = memory_new(&note.text, size, "a note of the input", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(note.text, text, size);
    rc = append(notes, &note, err);
    if (rc != ERROR_NONE)
        memory_free(note.text);
    return rc;
}

enum error_code dataset_notes_move(struct dataset_notes *notes, struct dataset_notes *from,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    size_t moved = 0;
    while (rc == ERROR_NONE && moved < from->count) {
        rc = append(notes, &from->note[moved], err);
        moved += rc == ERROR_NONE;
    }
    for (size_t i = 0; i < moved; i++)
        from->note[i].text = NULL;
    dataset_notes_release(from);
    return rc;
}
