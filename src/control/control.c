// control.c: carries out the requests of the control socket's clients
#include "control/control.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/local_socket.h"
#include "base/log.h"
#include "base/options.h"
#include "control/request.h"
#include "sink/screenshot.h"
#include "stream/stream.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// ---- clients of the socket: lines in, lines out, within limits; nothing waits ----

enum { CLIENTS_MAX = 8, CLIENT_LINE = 1 << 16, CLIENT_QUEUE = 1 << 20 };
enum { WATCHES = 32 }; // observed properties of a client

struct observed {
    long long id;
    char name[PROPERTY_NAME]; // "": free
    json_t *last;             // the value that the client knows; NULL: none
};

struct client {
    int fd;           // -1: the place is free
    bool ended;       // it sends no more
    bool skips;       // the line before was too long: skip its rest
    size_t got, used; // bytes in `in`, and how many of them are taken
    size_t queued;    // bytes in `out`
    char *in;         // CLIENT_LINE + 1 bytes
    char *out;        // CLIENT_QUEUE bytes

    bool waits;                    // the last command is answered later: take no further lines
    long long id;                  // request_id of this command
    uint64_t awaited;              // it waits for this number of frames; 0: for a frame with all changes
    unsigned source;               // ... for this request of source_change.requests; 0: for none
    bool recording;                // ... for the end of a recording
    struct screenshot *screenshot; // ... for this one; NULL: for none
    struct screenshot *left;       // still being written for a client that has gone; NULL: none
    struct observed watch[WATCHES];
};

struct control_socket {
    const struct controlled *run;
    struct local_socket socket;
    struct client client[CLIENTS_MAX];
    int64_t watched_ns; // when changed properties were last reported
};

enum client_line { CLIENT_NONE, CLIENT_TAKEN, CLIENT_TOO_LONG };

enum { ACCEPTS = 4 }; // new clients in one call
static const char refusal[] = "{\"error\":\"8 clients are connected; close one of them\",\"request_id\":0}\n";
_Static_assert(CLIENTS_MAX == 8, "the refusal names the number");

static void forget_watch(struct observed *watch)
{
    json_decref(watch->last);
    *watch = (struct observed){0};
}

// Waits until the screenshot of the client that has gone is written, and frees it.
static void close_left(struct client *client)
{
    char name[PATH_MAX];
    if (client->left)
        screenshot_close(client->left, name, NULL);
    client->left = NULL;
}

static void drop(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    free(client->in);
    free(client->out);
    for (int i = 0; i < WATCHES; i++)
        forget_watch(&client->watch[i]);
    if (client->screenshot)
        close_left(client);
    *client = (struct client){.fd = -1, .left = client->screenshot ? client->screenshot : client->left};
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

static void accept_new(struct control_socket *c)
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
        client->fd = fd;
        client->in = xmalloc(CLIENT_LINE + 1);
        client->out = xmalloc(CLIENT_QUEUE);
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

// Accepts new clients, receives and sends. Frees the places of clients that have gone.
static void clients_exchange(struct control_socket *c)
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

// Takes the client's next line, which stays valid until clients_exchange. Never has a newline; is not NUL-terminated.
static enum client_line client_take(struct client *client, const char **line, size_t *size)
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

// Sends text, or queues it. Drops a client that has gone, or whose queue is full (logged).
static void client_send(struct client *client, const char *text, size_t size)
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

// ---- requests ----

static const int64_t serve_ns = 1000000, watch_ns = 8000000; // longest time for requests; shortest between two reports

// A request that is being carried out.
struct call {
    struct control_socket *control;
    const struct controlled *run;
    struct client *client;
    const struct request *request;
    json_t *data; // of the reply; NULL: none
    char why[PROPERTY_WHY];
};

struct verb {
    const char *name;
    int least, most; // arguments
    const char *usage;
    bool changes; // it may change what the window shows
    bool (*run)(struct call *call);
};

// Sends the object as a line and frees it.
static void send_line(struct client *client, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    const size_t length = text ? strlen(text) : 0;
    if (text) {
        text[length] = '\n'; // instead of the NUL
        client_send(client, text, length + 1);
    }
    free(text);
    json_decref(object);
}

// `error` NULL: success.
static void reply(struct client *client, json_int_t id, const char *error, json_t *data)
{
    json_t *object = json_object();
    json_object_set_new(object, "error", error ? text_json(error) : json_string("success"));
    if (!error)
        json_object_set_new(object, "data", data ? data : json_null());
    json_object_set_new(object, "request_id", json_integer(id));
    send_line(client, object);
}

// ---- commands ----

// Returns argument `index` as a text; NULL if it is something else (call->why is set).
static const char *text_argument(struct call *call, int index)
{
    const char *text = json_string_value(call->request->argument[index]);
    if (!text)
        property_fail(call->why, "argument %d of %s is not a text", index + 1, call->request->command);
    return text;
}

static bool number_argument(struct call *call, int index, long long *number)
{
    return request_number(call->request->argument[index], number) ||
           property_fail(call->why, "argument %d of %s is not a whole number from 0 on", index + 1,
                         call->request->command);
}

static bool run_get(struct call *call)
{
    json_t *report = NULL;
    const char *name = text_argument(call, 0);
    call->data = name ? properties_get(call->run, name, &report, call->why) : NULL;
    json_decref(report);
    return call->data != NULL;
}

static bool run_set(struct call *call)
{
    const struct source_change *change = &call->run->stream->change;
    const unsigned requests = change->requests;
    const char *name = text_argument(call, 0);
    char value[REQUEST_TEXT];
    if (!name)
        return false;
    const bool plain = request_text(call->request->argument[1], value);
    if (!properties_set(call->run, name, plain ? value : NULL, call->why))
        return false;
    call->client->source = change->requests != requests ? change->requests : 0;
    call->client->recording = strcmp(name, "recording") == 0 && outputs_busy(&call->run->stream->outputs);
    call->client->id = call->request->id;
    call->client->waits = call->client->source > 0 || call->client->recording;
    return true;
}

static bool run_observe(struct call *call)
{
    long long id;
    const char *name = text_argument(call, 1);
    json_t *report = NULL, *value = NULL;
    struct observed *free_watch = NULL;
    if (!name || !number_argument(call, 0, &id) ||
        !(value = properties_get(call->run, name, &report, call->why))) // it must exist
        return false;
    json_decref(value);
    json_decref(report);
    if (strlen(name) >= PROPERTY_NAME)
        return property_fail(call->why, "the name is longer than %d bytes", PROPERTY_NAME - 1);
    for (int i = 0; i < WATCHES && !free_watch; i++)
        free_watch = call->client->watch[i].name[0] ? NULL : &call->client->watch[i];
    if (!free_watch)
        return property_fail(call->why, "a client can observe at most %d properties", WATCHES);
    free_watch->id = id;
    snprintf(free_watch->name, sizeof(free_watch->name), "%s", name);
    call->control->watched_ns = 0; // the client gets the value at once
    return true;
}

static bool run_unobserve(struct call *call)
{
    long long id, count = 0;
    if (!number_argument(call, 0, &id))
        return false;
    for (int i = 0; i < WATCHES; i++) {
        struct observed *watch = &call->client->watch[i];
        if (watch->name[0] && watch->id == id) {
            forget_watch(watch);
            count++;
        }
    }
    call->data = json_integer(count);
    return true;
}

static bool run_cycle(struct call *call)
{
    const char *words[REQUEST_ARGUMENTS + 1] = {NULL};
    for (int i = 0; i < call->request->arguments; i++) {
        if (!(words[i] = text_argument(call, i)))
            return false;
    }
    return properties_cycle(call->run, words[0], words + 1, call->why);
}

static bool run_key(struct call *call)
{
    long long digit = -1;
    const char *name = text_argument(call, 0);
    if (!name)
        return false;
    if (!call->run->press)
        return property_fail(call->why, "this run has no keys; set_property and cycle change its properties");
    if (call->request->arguments == 2 && !number_argument(call, 1, &digit))
        return false;
    return call->run->press(call->run->context, name, digit, call->why);
}

static bool run_screenshot(struct call *call)
{
    const bool both = strcmp(call->request->command, "screenshot_both") == 0;
    struct stream *s = call->run->stream;
    const char *path = call->request->arguments > 0 ? text_argument(call, 0) : NULL;
    if (!path && call->request->arguments > 0)
        return false;
    if (!panes_result(s->panes, PANE_MAIN))
        return property_fail(call->why, "there is no frame yet; wait_frame 1 waits for it");
    property_fail(call->why, "there is no frame to save"); // an error that is logged replaces this
    log_keep_error(call->why, sizeof(call->why));
    const struct output_inputs in = {.source = source_change_text(&s->change), .chain = &s->settings.chain};
    if (!path || output_files_allow_screenshot(&s->files, &s->outputs, &in, s->playback.source, path))
        call->client->screenshot = stream_save(s, both, path);
    log_keep_error(NULL, 0);
    call->client->id = call->request->id;
    call->client->waits = call->client->screenshot != NULL;
    return call->client->waits;
}

static bool run_list(struct call *call)
{
    call->data = properties_list(call->run);
    return true;
}

static bool run_wait(struct call *call)
{
    long long frame = 0;
    if (call->request->arguments > 0 && !number_argument(call, 0, &frame))
        return false;
    call->client->id = call->request->id;
    call->client->awaited = (uint64_t)frame;
    call->client->waits = true;
    return true;
}

static bool run_quit(struct call *call)
{
    call->run->stream->quit = true;
    return true;
}

static const struct verb verbs[] = {
    {"get_property", 1, 1, "NAME", false, run_get},
    {"set_property", 2, 2, "NAME VALUE", true, run_set},
    {"observe_property", 2, 2, "ID NAME", false, run_observe},
    {"unobserve_property", 1, 1, "ID", false, run_unobserve},
    {"list_properties", 0, 0, "", false, run_list},
    {"cycle", 1, REQUEST_ARGUMENTS, "NAME [VALUE...]", true, run_cycle},
    {"key", 1, 2, "ACTION [DIGIT]", false, run_key}, // `press` reports the change
    {"screenshot", 0, 1, "[FILE]", false, run_screenshot},
    {"screenshot_both", 0, 1, "[FILE]", false, run_screenshot},
    {"wait_frame", 0, 1, "[N]", false, run_wait},
    {"quit", 0, 0, "", false, run_quit},
};
enum { VERBS = sizeof(verbs) / sizeof(*verbs) };

static const struct verb *find_verb(struct call *call)
{
    const char *names[VERBS + 1] = {NULL};
    for (int i = 0; i < VERBS; i++) {
        const struct verb *verb = &verbs[i];
        names[i] = verb->name;
        if (strcmp(verb->name, call->request->command) != 0)
            continue;
        if (call->request->arguments >= verb->least && call->request->arguments <= verb->most)
            return verb;
        property_fail(call->why, "wrong number of arguments; usage: %s %s", verb->name, verb->usage);
        return NULL;
    }
    options_unknown(call->why, PROPERTY_WHY, "command", call->request->command, names,
                    "docs/live.md lists the commands");
    return NULL;
}

// ---- requests ----

static void carry_out(struct control_socket *c, struct client *client, const char *line, size_t size)
{
    struct request request;
    struct call call = {.control = c, .run = c->run, .client = client, .request = &request};
    const struct verb *verb;
    bool ok = request_parse(&request, line, size, call.why) && (verb = find_verb(&call)) && verb->run(&call);
    if (ok && verb->changes && c->run->changed)
        c->run->changed(c->run->context);
    if (!client->waits)
        reply(client, request.id, ok ? NULL : call.why, call.data);
    request_free(&request);
}

static bool is_blank(const char *line, size_t size)
{
    while (size > 0 && strchr(" \r\t", line[size - 1]) && line[size - 1])
        size--;
    return size == 0;
}

// Takes a line of the client and answers it. False: there is none.
static bool serve_client(struct control_socket *c, struct client *client)
{
    const char *line;
    size_t size;
    switch (client_take(client, &line, &size)) {
    case CLIENT_TAKEN:
        if (!is_blank(line, size))
            carry_out(c, client, line, size);
        return true;
    case CLIENT_TOO_LONG:
        reply(client, 0, "the line is longer than 65536 bytes", NULL);
        return true;
    case CLIENT_NONE:
        break;
    }
    return false;
}

// True: the last frame has all changes of the settings, and the window shows it.
static bool settled(const struct controlled *run)
{
    const struct stream *s = run->stream;
    return s->meter.frames > 0 && !s->playback.stepping && s->meter.frames >= s->playback.stepped &&
           !source_change_busy(&s->change) && !panes_building(s->panes) && !panes_rerun(s->panes) &&
           !(run->stale && run->stale(run->context)) && panes_result(s->panes, PANE_MAIN) &&
           !outputs_ending(&s->outputs);
}

// Answers a client that waits for a source, when its first frame is shown or it has failed. If the run ends,
// control_close answers.
static void answer_source(struct stream *s, struct client *client)
{
    const bool latest = client->source == s->change.requests;
    const bool over = (s->playback.ended && panes_in_flight(s->panes) == 0) || s->outputs.resting;
    if (latest && (source_change_busy(&s->change) || !s->playback.capture || s->quit || s->code >= EXIT_NOTHING))
        return;
    if (latest && !over && !panes_result(s->panes, PANE_MAIN) && !source_change_failure(&s->change))
        return;
    client->source = 0;
    client->waits = false;
    reply(client, client->id, latest ? source_change_failure(&s->change) : "a later request replaced this source",
          NULL);
}

// Answers a client that waits for the start or the end of a recording, but not for a slow start.
static void answer_recording(struct stream *s, struct client *client)
{
    if (outputs_busy(&s->outputs))
        return;
    client->recording = client->waits = false;
    reply(client, client->id, outputs_failure(&s->outputs), NULL);
}

// Answers a client that waits for a screenshot. `end`: waits for it; else does nothing if it is not there yet.
static void answer_screenshot(struct client *client, bool end)
{
    char name[PATH_MAX], why[SCREENSHOT_WHY];
    if (!end && !screenshot_done(client->screenshot))
        return;
    const bool ok = screenshot_close(client->screenshot, name, why);
    client->screenshot = NULL;
    client->waits = false;
    if (ok)
        reply(client, client->id, NULL, text_json(name));
    else
        reply(client, client->id, why, NULL);
}

static void answer_waits(struct control_socket *c)
{
    struct stream *s = c->run->stream;
    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &c->client[i];
        if (client->left && screenshot_done(client->left))
            close_left(client);
        if (client->waits && client->source) {
            answer_source(s, client);
        } else if (client->waits && client->recording) {
            answer_recording(s, client);
        } else if (client->waits && client->screenshot) {
            answer_screenshot(client, false);
        } else if (client->waits && (client->awaited > 0 ? s->meter.frames >= client->awaited : settled(c->run))) {
            client->waits = false;
            reply(client, client->id, NULL, json_integer((json_int_t)s->meter.frames));
        }
    }
}

static void tell_watcher(const struct controlled *run, struct client *client, struct observed *watch, json_t **report)
{
    char why[PROPERTY_WHY];
    json_t *value = properties_get(run, watch->name, report, why); // a parameter may no longer exist
    if (!value)
        value = json_null();
    if (watch->last && json_equal(value, watch->last)) {
        json_decref(value);
        return;
    }
    json_decref(watch->last);
    watch->last = value;
    send_line(client, json_pack("{s:s,s:I,s:s,s:O}", "event", "property-change", "id", watch->id, "name", watch->name,
                                "data", value));
}

// Sends each client the observed properties that have changed.
static void tell_watchers(struct control_socket *c)
{
    json_t *report = NULL;
    const int64_t now_ns = clock_now_ns();
    if (now_ns - c->watched_ns < watch_ns)
        return;
    c->watched_ns = now_ns;
    for (int i = 0; i < CLIENTS_MAX; i++) {
        for (int k = 0; k < WATCHES; k++)
            if (c->client[i].watch[k].name[0])
                tell_watcher(c->run, &c->client[i], &c->client[i].watch[k], &report);
    }
    json_decref(report);
}

struct control_socket *control_open(const struct controlled *run, const char *path)
{
    struct control_socket *c = xalloc(sizeof(*c));
    char why[LOCAL_WHY];
    c->run = run;
    for (int i = 0; i < CLIENTS_MAX; i++)
        c->client[i].fd = -1;
    if (local_socket_listen(&c->socket, path, why))
        return c;
    log_error("cannot make the control socket %s", why);
    free(c);
    return NULL;
}

void control_close(struct control_socket *c)
{
    if (!c)
        return;
    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &c->client[i];
        if (client->waits && client->screenshot)
            answer_screenshot(client, true);
        if (client->waits && client->recording)
            answer_recording(c->run->stream, client);
        if (client->waits)
            reply(client, client->id, "the run has ended", NULL);
        send_queued(client); // what the client accepts at once
        drop(client);
        close_left(client);
    }
    local_socket_close(&c->socket);
    free(c);
}

void control_serve(struct control_socket *c)
{
    const int64_t end_ns = clock_now_ns() + serve_ns;
    if (!c)
        return;
    clients_exchange(c);
    const bool *quit = &c->run->stream->quit;
    for (bool more = true; more && !*quit && clock_now_ns() < end_ns;) {
        more = false;
        for (int i = 0; i < CLIENTS_MAX && !*quit; i++)
            more = serve_client(c, &c->client[i]) || more;
    }
    answer_waits(c);
    tell_watchers(c);
}

void control_wait(const struct control_socket *c, int fd, int64_t timeout_ns)
{
    if (!c) {
        clock_sleep_until_ns(clock_now_ns() + timeout_ns);
        return;
    }
    struct pollfd set[CLIENTS_MAX + 2] = {{.fd = fd, .events = POLLIN}, {.fd = c->socket.fd, .events = POLLIN}};
    for (int i = 0; i < CLIENTS_MAX; i++) {
        const struct client *client = &c->client[i];
        const bool reads = !client->waits && !client->ended;
        if (client->fd >= 0 && !client->waits && has_line(client))
            return;
        set[i + 2] = (struct pollfd){.fd = client->fd, .events = reads ? POLLIN : 0};
        if (client->queued)
            set[i + 2].events |= POLLOUT;
    }
    const struct timespec time = clock_timespec(timeout_ns);
    ppoll(set, CLIENTS_MAX + 2, &time, NULL);
}
