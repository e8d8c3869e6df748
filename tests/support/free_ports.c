#include "tests/support/free_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_free(int port)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const bool free = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        (void)close(fd);
    return free;
}

int free_ports(int count, int offset)
{
    for (int i = 0; i < 1000; i++) {
        const int first = 11000 + ((int)getpid() * 7 + i * count) % 9000;
        bool all = true;
        for (int k = 0; all && k < count; k++)
            all = is_free(first + k) && is_free(first + k + offset);
        if (all)
            return first;
    }
    abort();
}
