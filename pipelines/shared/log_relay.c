#include "pipelines/shared/log_relay.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "pipelines/shared/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_SIZE = 16 << 10 };

static void show(struct log_relay *relay, const char *line)
{
    struct log_line said;
    if (!log_line_read(line, strlen(line), &said))
        return;
    const bool is_progress = said.kind == LOG_IS_PROGRESS && relay->progress;
    const bool is_input = said.kind == LOG_IS_INPUT && relay->progress;
    if (said.kind == LOG_IS_WARN || is_input) {
        log_relay_end(relay);
        (void)fprintf(stderr, "%-10s %s%.*s\n", relay->stage,
                      is_input ? "" : "warning: ", (int)said.size, said.text);
    } else if (is_progress) {
        (void)snprintf(relay->last, sizeof relay->last, "%.*s", (int)said.size, said.text);
        if (!relay->on_terminal)
            (void)fprintf(stderr, "%-10s %s\n", relay->stage, relay->last);
    }
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
        /* a line longer than any of graphmill's programs writes */
        if (line == piece && size == PIECE_SIZE)
            line += size;
        relay->at += (uint64_t)(line - piece);
        if (line == piece)
            break;
    }
    (void)close(fd);
    draw(relay);
}
