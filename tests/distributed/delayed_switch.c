/*
 * delayed_switch - the cable between hosts that are network namespaces: an Ethernet switch that takes its time.
 *
 *   delayed_switch MICROSECONDS PID...
 *
 * Makes a TAP device eth0 in the network namespace of each PID, and carries frames between them: each lies here for the
 * stated time, and leaves in the order in which all came. It learns which address is behind which port, as a switch does,
 * and sends to all ports what it has no port for. What would be more than QUEUE_BYTES_MAX under way is dropped. Prints
 * `ready` when the devices are there, which go away with it. Needs root.
 *
 * A kernel without netem has no other way to a delay; rates are for tc on the devices themselves.
 */
#define _GNU_SOURCE /* setns(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    PORT_COUNT_MAX = 16,
    FRAME_SIZE_MAX = 9018, /* 9000 bytes and the header */
    ADDRESS_SIZE = 6,
    READS_A_TURN = 64,
    QUEUE_BYTES_MAX = 64 << 20
};

struct frame {
    struct frame *next;
    int64_t due_ns;
    int port; /* that it came in at */
    size_t size;
    uint8_t data[];
};

struct port {
    int fd;
    bool is_known;
    uint8_t address[ADDRESS_SIZE]; /* whoever sends from behind it */
};

struct cable {
    int64_t delay_ns;
    struct port port[PORT_COUNT_MAX];
    int port_count;
    struct frame *first, *last; /* under way, in order */
    size_t queued_bytes;
};

static void give_up(const char *what, const char *of)
{
    (void)fprintf(stderr, "delayed_switch: %s %s: %s\n", what, of, strerror(errno));
    exit(EXIT_FAILURE);
}

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A device belongs to the namespace in which it is made. */
static int open_device(const char *pid)
{
    char path[64];
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    (void)snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    const int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0)
        give_up("cannot enter", path);
    (void)close(space);
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "eth0");
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        give_up("cannot make eth0 for", pid);
    return fd;
}

static void take_in(struct cable *cable, int port)
{
    uint8_t data[FRAME_SIZE_MAX];
    for (int i = 0; i < READS_A_TURN; i++) {
        const ssize_t size = read(cable->port[port].fd, data, sizeof data);
        if (size < (ssize_t)2 * ADDRESS_SIZE)
            return;
        memcpy(cable->port[port].address, data + ADDRESS_SIZE, ADDRESS_SIZE);
        cable->port[port].is_known = true;
        if (cable->queued_bytes + (size_t)size > QUEUE_BYTES_MAX)
            continue;
        struct frame *frame = malloc(sizeof *frame + (size_t)size);
        must(frame != NULL);
        *frame = (struct frame){
            .due_ns = now_ns() + cable->delay_ns, .port = port, .size = (size_t)size};
        memcpy(frame->data, data, (size_t)size);
        if (cable->last)
            cable->last->next = frame;
        else
            cable->first = frame;
        cable->last = frame;
        cable->queued_bytes += frame->size;
    }
}

/* A device that is down or full drops it, as real ones do. */
static void send_out(const struct cable *cable, const struct frame *frame)
{
    int only = -1;
    for (int i = 0; i < cable->port_count; i++) {
        if (cable->port[i].is_known &&
            memcmp(cable->port[i].address, frame->data, ADDRESS_SIZE) == 0)
            only = i;
    }
    for (int i = 0; i < cable->port_count; i++) {
        if (i == frame->port || (only >= 0 && i != only))
            continue;
        const ssize_t sent = write(cable->port[i].fd, frame->data, frame->size);
        (void)sent;
    }
}

/* Frames whose time has come; when the next one's comes, 0: none is under way. */
static int64_t send_due(struct cable *cable)
{
    while (cable->first && cable->first->due_ns <= now_ns()) {
        struct frame *frame = cable->first;
        cable->first = frame->next;
        if (!cable->first)
            cable->last = NULL;
        cable->queued_bytes -= frame->size;
        send_out(cable, frame);
        free(frame);
    }
    return cable->first ? cable->first->due_ns : 0;
}

static void carry(struct cable *cable)
{
    const int all = epoll_create1(EPOLL_CLOEXEC);
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    must(all >= 0 && timer >= 0);
    for (int i = -1; i < cable->port_count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data = {.fd = i}};
        must(epoll_ctl(all, EPOLL_CTL_ADD, i < 0 ? timer : cable->port[i].fd, &event) == 0);
    }
    for (;;) {
        struct epoll_event event[PORT_COUNT_MAX + 1];
        const int count = epoll_wait(all, event, PORT_COUNT_MAX + 1, -1);
        for (int i = 0; i < count; i++) {
            if (event[i].data.fd >= 0)
                take_in(cable, event[i].data.fd);
        }
        const int64_t due = send_due(cable);
        const struct itimerspec next = {
            .it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};
        (void)timerfd_settime(timer, TFD_TIMER_ABSTIME, &next, NULL);
    }
}

int main(int argc, char **argv)
{
    static struct cable cable;
    char *end = NULL;
    const long delay_us = argc > 2 ? strtol(argv[1], &end, 10) : -1;
    if (delay_us < 0 || *end || argc - 2 > PORT_COUNT_MAX) {
        (void)fprintf(stderr, "usage: delayed_switch MICROSECONDS PID... (%d at most)\n",
                      PORT_COUNT_MAX);
        return 64;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    cable.delay_ns = delay_us * INT64_C(1000);
    for (int i = 2; i < argc; i++)
        cable.port[cable.port_count++].fd = open_device(argv[i]);
    (void)puts("ready");
    (void)fflush(stdout);
    carry(&cable);
}
