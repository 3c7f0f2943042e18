// clients.c: the clients of a Unix socket
#include "control/clients.h"

#include "base/alloc.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ACCEPTS = 4 }; // new clients in one call
static const char refusal[] = "{\"error\":\"8 clients are connected; close one of them\",\"request_id\":0}\n";
_Static_assert(CLIENTS_MAX == 8, "the refusal names the number");

bool clients_open(struct clients *c, const char *path)
{
    char why[LOCAL_WHY];
    for (int i = 0; i < CLIENTS_MAX; i++)
        c->client[i] = (struct client){.fd = -1};
    if (local_socket_listen(&c->socket, path, why))
        return true;
    log_error("cannot make the control socket %s", why);
    return false;
}

static void drop(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    free(client->in);
    free(client->out);
    *client = (struct client){.fd = -1};
}

static void send_queued(struct client *client)
{
    const ssize_t sent =
        client->queued ? send(client->fd, client->out, client->queued, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        drop(client);
        return;
    }
    if (sent > 0) {
        client->queued -= (size_t)sent;
        memmove(client->out, client->out + sent, client->queued);
    }
}

void clients_close(struct clients *c)
{
    for (int i = 0; i < CLIENTS_MAX; i++) {
        if (c->client[i].fd >= 0)
            send_queued(&c->client[i]);
        drop(&c->client[i]);
    }
    local_socket_close(&c->socket);
}

static void accept_new(struct clients *c)
{
    for (int n = 0; n < ACCEPTS; n++) {
        const int fd = accept4(c->socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct client *client = NULL;
        for (int i = 0; i < CLIENTS_MAX && !client; i++)
            client = c->client[i].fd < 0 ? &c->client[i] : NULL;
        if (!client) {
            log_warn("a client of the control socket was refused: %d clients are connected", CLIENTS_MAX);
            send(fd, refusal, sizeof(refusal) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            close(fd);
            continue;
        }
        *client = (struct client){
            .fd = fd, .number = ++c->accepted, .in = xmalloc(CLIENT_LINE + 1), .out = xmalloc(CLIENT_QUEUE)};
    }
}

static bool has_line(const struct client *client)
{
    return client->got - client->used > CLIENT_LINE ||
           (client->got > 0 && memchr(client->in + client->used, '\n', client->got - client->used));
}

// Receives once. A client that waits stays unread, but is dropped when it has gone.
static void receive(struct client *client, bool gone)
{
    client->got -= client->used;
    memmove(client->in, client->in + client->used, client->got); // the bytes that are not taken
    client->used = 0;
    const size_t room = CLIENT_LINE + 1 - client->got;
    if (!client->waits && !client->ended && room > 0) {
        const ssize_t got = recv(client->fd, client->in + client->got, room, MSG_DONTWAIT);
        client->ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
        client->got += got > 0 ? (size_t)got : 0;
    }
    // A line without its newline is not carried out: its end is missing.
    if ((client->waits && gone) ||
        (client->ended && !client->waits && !has_line(client) && (gone || client->queued == 0)))
        drop(client);
}

void clients_exchange(struct clients *c)
{
    struct pollfd poll_set[CLIENTS_MAX];
    for (int i = 0; i < CLIENTS_MAX; i++)
        poll_set[i] = (struct pollfd){.fd = c->client[i].fd, .events = POLLIN | POLLOUT};
    poll(poll_set, CLIENTS_MAX, 0);
    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &c->client[i];
        if (client->fd >= 0 && poll_set[i].revents & POLLOUT)
            send_queued(client);
        if (client->fd >= 0)
            receive(client, poll_set[i].revents & (POLLHUP | POLLERR));
    }
    accept_new(c);
}

void clients_wait(const struct clients *c, int fd, int64_t timeout_ns)
{
    struct pollfd set[CLIENTS_MAX + 2] = {{.fd = fd, .events = POLLIN}, {.fd = c->socket.fd, .events = POLLIN}};
    for (int i = 0; i < CLIENTS_MAX; i++) {
        const struct client *client = &c->client[i];
        const bool reads = !client->waits && !client->ended;
        if (client->fd >= 0 && !client->waits && has_line(client))
            return;
        set[i + 2] =
            (struct pollfd){.fd = client->fd, .events = (short)((reads ? POLLIN : 0) | (client->queued ? POLLOUT : 0))};
    }
    const struct timespec time = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    ppoll(set, CLIENTS_MAX + 2, &time, NULL);
}

enum client_line client_take(struct client *client, const char **line, size_t *size)
{
    while (client->fd >= 0 && !client->waits && has_line(client)) {
        char *begin = client->in + client->used;
        const size_t left = client->got - client->used;
        const char *feed = memchr(begin, '\n', left);
        const bool skipped = client->skips;
        client->used += feed ? (size_t)(feed - begin) + 1 : left;
        client->skips = !feed;
        if (skipped)
            continue;
        *line = begin;
        *size = feed ? (size_t)(feed - begin) : left;
        return feed ? CLIENT_TAKEN : CLIENT_TOO_LONG;
    }
    return CLIENT_NONE;
}

void client_send(struct client *client, const char *text, size_t size)
{
    if (client->fd < 0)
        return;
    if (size > CLIENT_QUEUE - client->queued) {
        log_warn("a client of the control socket was dropped: it does not read, and %d bytes wait for it",
                 CLIENT_QUEUE);
        drop(client);
        return;
    }
    memcpy(client->out + client->queued, text, size);
    client->queued += size;
    send_queued(client);
}
