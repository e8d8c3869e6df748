/*
 * terminal - lines for people, no wider than the screen, and a panel of lines on stderr that is drawn over.
 *
 * There is one panel, for stderr is one. What else is written to stderr while it stands there takes it away first, so that nothing is
 * drawn over and nothing scrolls: log lines by themselves, other writers by terminal_panel_clear(). The next draw puts it below.
 * Colour is for terminals alone, and for none when NO_COLOR is set (https://no-color.org) or TERM is dumb.
 */
#ifndef PIPELINES_TERMINAL_H
#define PIPELINES_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_DRAW_MS = 250, TERMINAL_BAR_SIZE = 256 };

/* Columns of the terminal that `fd` is; 80 when it does not say. Asked each time: windows change. */
int terminal_columns(int fd);
/* Bytes of text [size] that fit into `columns`: whole characters of UTF-8, each taken for one column wide; escape sequences
 * take none. */
int terminal_fit(const char *text, size_t size, int columns);
/* "\033[1m" and the like where `fd` takes colour, else "". */
enum terminal_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD };
const char *terminal_style(int fd, enum terminal_style style);
/* A bar of `columns` that is full at 1, in `bar`, which it returns. */
const char *terminal_bar(double share, int columns, char bar[TERMINAL_BAR_SIZE]);

/* Draws `text`, whole lines, where the panel stood. */
void terminal_panel_draw(const char *text);
void terminal_panel_clear(void);
/* It stays on the screen as it is, and what comes next is below. */
void terminal_panel_keep(void);

#endif
