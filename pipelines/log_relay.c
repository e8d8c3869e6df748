#include "pipelines/log_relay.h"

#include "common/base/clock.h"
#include "pipelines/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_SIZE = 16 << 10 };

/* Behind "<time> <level> <program> ", or NULL when the line is of another level. */
static const char *text_of(const char *line, const char *level)
{
    const char *word = strchr(line, ' ');
    const size_t size = strlen(level);
    if (!word || strncmp(word + 1, level, size) != 0 || word[1 + size] != ' ')
        return NULL;
    const char *program = strchr(word + 2 + size, ' ');
    return program ? program + 1 : NULL;
}

static void show(struct log_relay *relay, const char *line)
{
    static const char mark[] = "progress ", input[] = "input ";
    const char *text = text_of(line, "warn");
    if (text) {
        log_relay_end(relay);
        (void)fprintf(stderr, "%-10s warning: %s\n", relay->stage, text);
        return;
    }
    text = relay->progress ? text_of(line, "info") : NULL;
    if (text && strncmp(text, input, sizeof input - 1) == 0) { /* how ingest read a file */
        log_relay_end(relay);
        (void)fprintf(stderr, "%-10s %s\n", relay->stage, text + sizeof input - 1);
        return;
    }
    if (!text || strncmp(text, mark, sizeof mark - 1) != 0)
        return;
    (void)snprintf(relay->last, sizeof relay->last, "%s", text + sizeof mark - 1);
    if (!relay->on_terminal)
        (void)fprintf(stderr, "%-10s %s\n", relay->stage, relay->last);
}

void log_relay_end(struct log_relay *relay)
{
    if (relay->on_terminal)
        terminal_panel_clear();
}

static void draw(struct log_relay *relay)
{
    char text[LOG_RELAY_TEXT_SIZE + 64];
    const int64_t now = clock_ms();
    if (!relay->progress || !relay->on_terminal)
        return;
    (void)snprintf(
        text, sizeof text, "%s%-10s%s %5.1f s  %s", terminal_style(STDERR_FILENO, STYLE_BOLD),
        relay->stage, terminal_style(STDERR_FILENO, STYLE_PLAIN),
        (double)(now - relay->started_ms) / 1000.0, relay->last[0] ? relay->last : "at work");
    terminal_panel_draw(text);
}

void log_relay_run(struct log_relay *relay)
{
    char piece[PIECE_SIZE + 1];
    const int fd = open(relay->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        draw(relay);
        return;
    }
    for (ssize_t size = 1; size > 0;) {
        size = pread(fd, piece, PIECE_SIZE, (off_t)relay->at);
        piece[size > 0 ? size : 0] = '\0';
        char *line = piece;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            show(relay, line);
        }
        if (line == piece && size == PIECE_SIZE) /* a line longer than any of ours */
            line += size;
        relay->at += (uint64_t)(line - piece);
        if (line == piece)
            break;
    }
    (void)close(fd);
    draw(relay);
}
