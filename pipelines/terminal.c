#include "pipelines/terminal.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80 };

int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col
                                                                           : COLUMNS_DEFAULT;
}

void terminal_line(const char *text)
{
    /* The last column stays free: a full line wraps on some. */
    (void)fprintf(stderr, "\r%.*s\033[K\n", terminal_columns() - 1, text);
}

void terminal_draw_over(const char *text)
{
    (void)fprintf(stderr, "\r%.*s\033[K", terminal_columns() - 1, text);
    (void)fflush(stderr);
}
