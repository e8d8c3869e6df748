#include "pipelines/shared/terminal.h"

#include "common/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24, PANEL_LINES_MAX = 24 };

/* The panel that is on the screen. */
static struct {
    int count;
    int width[PANEL_LINES_MAX]; /* in columns */
} panel;

static struct winsize window_of(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        size.ws_col = COLUMNS_DEFAULT;
    if (size.ws_row < 2)
        size.ws_row = ROWS_DEFAULT;
    return size;
}

int terminal_columns(int fd)
{
    return window_of(fd).ws_col;
}

/* Returns the length of an escape sequence such as "\033[1m" at `text`, which must end before
 * `end`. */
static size_t escape_size(const char *text, const char *end)
{
    const char *at = text;
    if (end - at < 2 || at[0] != '\033' || at[1] != '[')
        return 0;
    for (at += 2; at < end && (*at < '@' || *at > '~');)
        at++;
    return (size_t)(at - text) + (at < end);
}

/* Does the same as terminal_fit(); *used receives the number of columns. */
static int fit(const char *text, size_t size, int columns, int *used)
{
    const char *at = text, *end = text + size;
    *used = 0;
    while (at < end) {
        const size_t escape = escape_size(at, end);
        if (!escape && *used == columns)
            break;
        *used += !escape;
        at += escape ? escape : 1;
        while (!escape && at < end && ((unsigned char)*at & 0xc0) == 0x80)
            at++;
    }
    return (int)(at - text);
}

int terminal_fit(const char *text, size_t size, int columns)
{
    int used = 0;
    return fit(text, size, columns, &used);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0];
}

const char *terminal_style(int fd, enum terminal_style style)
{
    static const char *const sequences[] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m",
                                            "\033[31m"};
    const char *term = getenv("TERM");
    const bool takes_colour =
        isatty(fd) == 1 && !is_set("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
    return takes_colour ? sequences[style] : "";
}

/* Returns whether the terminal shows UTF-8, by the locale in the environment. */
static bool takes_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

const char *terminal_bar(double share, int columns, char bar[TERMINAL_BAR_SIZE])
{
    const bool utf8 = takes_utf8();
    const char *full = utf8 ? "\xe2\x96\x88" : "#"; /* U+2588 */
    const char *rest = utf8 ? "\xe2\x96\x91" : "."; /* U+2591 */
    size_t used = 0;
    share = share > 0.0 ? share < 1.0 ? share : 1.0 : 0.0;
    const int filled = (int)(share * columns);
    for (int i = 0; i < columns && used + 4 < TERMINAL_BAR_SIZE; i++)
        used +=
            (size_t)snprintf(bar + used, TERMINAL_BAR_SIZE - used, "%s", i < filled ? full : rest);
    bar[used] = '\0';
    return bar;
}

/* --- the panel --- */

/* Moves the cursor to the first line of the panel. A window that became narrower has wrapped the
 * lines. */
static void go_up(int columns)
{
    int rows = 0;
    for (int i = 0; i < panel.count; i++)
        rows += panel.width[i] > columns ? (panel.width[i] + columns - 1) / columns : 1;
    if (rows)
        (void)fprintf(stderr, "\r\033[%dA", rows);
    panel.count = 0;
}

void terminal_panel_draw(const char *text)
{
    const struct winsize window = window_of(STDERR_FILENO);
    const int most = window.ws_row - 1 < PANEL_LINES_MAX ? window.ws_row - 1 : PANEL_LINES_MAX;
    log_call_before(terminal_panel_clear);
    go_up(window.ws_col);
    for (const char *line = text; *line && panel.count < most;) {
        const size_t size = strcspn(line, "\n");
        /* The last column stays free, because some terminals wrap a full line. */
        const int bytes = fit(line, size, window.ws_col - 1, &panel.width[panel.count++]);
        (void)fprintf(stderr, "%.*s%s\033[K\n", bytes, line,
                      terminal_style(STDERR_FILENO, STYLE_PLAIN));
        line += size + (line[size] == '\n');
    }
    (void)fprintf(stderr, "\033[J");
    (void)fflush(stderr);
}

void terminal_panel_clear(void)
{
    if (!panel.count)
        return;
    go_up(window_of(STDERR_FILENO).ws_col);
    (void)fprintf(stderr, "\033[J");
    (void)fflush(stderr);
}

void terminal_panel_keep(void)
{
    panel.count = 0;
}
