// ctl.c: the `ctl` command: sends a command to the control socket of a live view and prints the answer
#include "base/alloc.h"
#include "base/local_socket.h"
#include "base/log.h"
#include "base/text.h"
#include "command/shared.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORDS_MAX = 40 };

static const char *const examples[] = {
    "monocle live clip.y4m --loop --socket /tmp/m &  start a view with a control socket",
    "monocle ctl /tmp/m get fps                      print a property",
    "monocle ctl /tmp/m set chain 'blur=2,gray'      change the filters",
    "monocle ctl /tmp/m set look ink                 show a look",
    "monocle ctl /tmp/m set param/blur/radius 5      change one parameter",
    "monocle ctl /tmp/m key split                    do what a key does",
    "monocle ctl /tmp/m wait-frame                   wait until the last change is on the screen",
    "monocle ctl /tmp/m screenshot a.png             save the frame on the screen",
    "monocle ctl /tmp/m observe chain fps            print these properties now and after each change",
    NULL,
};

static const char *const details[] = {
    "The commands:",
    "get NAME\tprint a property",
    "set NAME VALUE\tset a property",
    "cycle NAME [VALUE...]\tset a property to its next value, or to the next one of these values",
    "observe NAME...\tprint \"NAME<Tab>VALUE\" now and after each change, until the view ends",
    "list\tprint the names of all properties; * means that it can be set",
    "key ACTION [DIGIT]\tdo what a key does; ACTION is a name of `monocle live --help`",
    "screenshot [FILE]\tsave the last frame as PNG, and print the name of the file",
    "screenshot-both [FILE]\tthe same with the original on the left and the result on the right",
    "wait-frame [N]\twait until N frames have been shown; without N: until the frame on the screen has all changes",
    "quit\tend the view",
    "A text is printed with control characters escaped, any other value as JSON. Programs can use the socket "
    "themselves: docs/live.md has the "
    "protocol.",
    NULL,
};

static const char *const exits[] = {
    "0\tdone",
    "1\tthe view refused the command, or ended before its answer",
    "2\twrong arguments",
    "3\tno view listens at the socket",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

struct ctl {
    FILE *socket;
    char *line; // of getline
    size_t room;
};

// ---- answers ----

// Prints a text with control characters escaped: the view may not be monocle.
static bool print_text(const char *text, char end)
{
    const size_t room = 4 * strlen(text) + 1;
    char *shown = xmalloc(room);
    log_escape(shown, room, text);
    const bool ok = printf("%s%c", shown, end) >= 0;
    free(shown);
    return ok;
}

// Prints a text as it is, and any other value as JSON.
static bool print_value(const json_t *value, bool alone)
{
    if (!json_is_string(value)) {
        const bool container = json_is_object(value) || json_is_array(value);
        return print_json(json_incref((json_t *)value), JSON_ENCODE_ANY | JSON_REAL_PRECISION(9) |
                                                            (container && alone ? JSON_INDENT(2) : JSON_COMPACT));
    }
    return print_text(json_string_value(value), '\n');
}

// Prints "* chain       text    requested filter chain" for each property.
static void print_list(const json_t *list)
{
    size_t index;
    json_t *row;
    json_array_foreach(list, index, row)
    {
        const char *choices = json_text(row, "choices");
        log_print_line(stdout, "%s %-11s %-7s %s%s%s", json_is_true(json_object_get(row, "writable")) ? "*" : " ",
                       json_text(row, "name"), json_text(row, "type"), json_text(row, "help"),
                       text_if(choices[0], ": "), choices);
    }
}

static bool send_request(struct ctl *ctl, json_t *command)
{
    json_t *request = json_pack("{s:o,s:i}", "command", command, "request_id", 1);
    char *text = json_dumps(request, JSON_COMPACT);
    const size_t length = text ? strlen(text) : 0;
    bool ok = text != NULL;
    if (ok) {
        text[length] = '\n'; // instead of the NUL
        ok = send(fileno(ctl->socket), text, length + 1, MSG_NOSIGNAL) == (ssize_t)length + 1;
    }
    free(text);
    json_decref(request);
    return ok;
}

// Reads the next line. NULL: the view has ended, or the line is not JSON.
static json_t *read_line(struct ctl *ctl)
{
    const ssize_t length = getline(&ctl->line, &ctl->room, ctl->socket);
    return length > 0 ? json_loadb(ctl->line, (size_t)length, 0, NULL) : NULL;
}

// Prints "NAME<Tab>VALUE". False: standard output cannot be written; main logs that.
static bool print_event(const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "name"));
    return !name || (print_text(name, '\t') && print_value(json_object_get(event, "data"), false) && process_flush());
}

// Sends a command and waits for the reply; prints events before it. Returns its data, which the caller frees; NULL on
// failure (logged).
static json_t *ask(struct ctl *ctl, json_t *command)
{
    json_t *reply = NULL;
    if (send_request(ctl, command)) {
        for (; (reply = read_line(ctl)) && json_object_get(reply, "event"); json_decref(reply))
            print_event(reply);
    }
    const char *error = json_string_value(json_object_get(reply, "error"));
    json_t *data = json_incref(json_object_get(reply, "data"));
    const bool done = error && strcmp(error, "success") == 0;
    if (!error)
        log_error("the view ended before it answered");
    else if (!done)
        log_error("%s", error);
    json_decref(reply);
    if (done)
        return data ? data : json_null();
    json_decref(data);
    return NULL;
}

// ---- commands ----

// Sends a command of the protocol with the words as arguments, and prints the data.
static int run_plain(struct ctl *ctl, const char *name, const char **word, int words)
{
    json_t *command = json_array();
    json_array_append_new(command, json_string(name));
    for (int i = 0; i < words; i++) {
        if (json_array_append_new(command, json_string(word[i])) != 0) {
            log_error("'%s' is not UTF-8", word[i]);
            json_decref(command);
            return EXIT_USAGE;
        }
    }
    json_t *data = ask(ctl, command);
    if (data && strcmp(name, "list_properties") == 0)
        print_list(data);
    else if (data && (!json_is_null(data) || strcmp(name, "get_property") == 0))
        print_value(data, true);
    json_decref(data);
    return data ? EXIT_OK : EXIT_FAILED_SOME;
}

// Runs a command whose last word is a file, which the view would look for in its own directory.
static int run_with_file(struct ctl *ctl, const char *name, const char **word, int words)
{
    char directory[PATH_MAX], path[2 * PATH_MAX];
    const char *absolute[2] = {word[0], path};
    if (words == 0 || word[words - 1][0] == '/')
        return run_plain(ctl, name, word, words);
    if (!getcwd(directory, sizeof(directory))) {
        log_error("cannot find the current directory: %s", strerror(errno));
        return EXIT_FAILED_SOME;
    }
    snprintf(path, sizeof(path), "%s/%s", directory, word[words - 1]);
    return run_plain(ctl, name, absolute + 2 - words, words);
}

// Returns true if the value of the property is a file.
static bool is_file(const char *property, const char *value)
{
    if (strcmp(property, "source") == 0)
        return access(value, F_OK) == 0; // else it is a pattern, a camera or a URL
    return strcmp(property, "recording") == 0 && strcmp(value, "none") != 0 && strcmp(value, "-") != 0;
}

static int run_set(struct ctl *ctl, const char *name, const char **word, int words)
{
    return (is_file(word[0], word[1]) ? run_with_file : run_plain)(ctl, name, word, words);
}

// Returns when the view ends or standard output is broken.
static int run_observe(struct ctl *ctl, const char *name, const char **word, int words)
{
    for (int i = 0; i < words; i++) {
        json_t *data = ask(ctl, json_pack("[s,i,o]", name, i + 1, text_json(word[i])));
        json_decref(data);
        if (!data)
            return EXIT_FAILED_SOME;
    }
    json_t *event;
    bool ok = true;
    while (ok && (event = read_line(ctl))) {
        ok = print_event(event);
        json_decref(event);
    }
    return EXIT_OK;
}

static const struct {
    const char *word; // on the command line
    const char *name; // in the protocol
    int least, most;  // arguments
    int (*run)(struct ctl *ctl, const char *name, const char **word, int words);
    const char *usage;
} verbs[] = {
    {"get", "get_property", 1, 1, run_plain, "NAME"},
    {"set", "set_property", 2, 2, run_set, "NAME VALUE"},
    {"observe", "observe_property", 1, WORDS_MAX, run_observe, "NAME..."},
    {"list", "list_properties", 0, 0, run_plain, ""},
    {"cycle", "cycle", 1, WORDS_MAX, run_plain, "NAME [VALUE...]"},
    {"key", "key", 1, 2, run_plain, "ACTION [DIGIT]"},
    {"screenshot", "screenshot", 0, 1, run_with_file, "[FILE]"},
    {"screenshot-both", "screenshot_both", 0, 1, run_with_file, "[FILE]"},
    {"wait-frame", "wait_frame", 0, 1, run_plain, "[N]"},
    {"quit", "quit", 0, 0, run_plain, ""},
};
enum { VERBS = sizeof(verbs) / sizeof(*verbs) };

const char *ctl_word(int index)
{
    return index < VERBS ? verbs[index].word : NULL;
}

// Connects to the view. False on failure (logged).
static bool ctl_open(struct ctl *ctl, const char *socket)
{
    char why[LOCAL_WHY];
    const int fd = local_socket_connect(socket, why);
    *ctl = (struct ctl){.socket = fd >= 0 ? fdopen(fd, "r") : NULL};
    if (ctl->socket)
        return true;
    log_error("cannot connect to %s; start the view with --socket %s", fd < 0 ? why : strerror(errno), socket);
    if (fd >= 0)
        close(fd);
    return false;
}

static void ctl_close(struct ctl *ctl)
{
    fclose(ctl->socket);
    free(ctl->line);
}

// Returns the index of the command that the operands name; -1: the arguments are wrong (logged).
static int find_verb(const struct command_operands *operands)
{
    const char *names[VERBS + 1] = {NULL};
    for (int i = 0; i < VERBS; i++)
        names[i] = verbs[i].word;
    if (operands->count > 0 && options_nearest(operands->word[0], names) && access(operands->word[0], F_OK) != 0) {
        log_error("the socket comes before '%s': monocle ctl SOCKET %s; start the view with --socket SOCKET",
                  operands->word[0], operands->word[0]);
        return -1;
    }
    if (operands->count < 2) {
        log_error("the %s is missing; usage: monocle ctl %s", operands->count == 0 ? "socket" : "command",
                  ctl_command.usage);
        return -1;
    }
    const int index = options_choose(operands->word[1], "command", names), words = operands->count - 2;
    if (index < 0 || (words >= verbs[index].least && words <= verbs[index].most))
        return index;
    log_error("wrong number of arguments; usage: monocle ctl SOCKET %s %s", verbs[index].word, verbs[index].usage);
    return -1;
}

static int ctl_run(int argc, char **argv)
{
    struct command_operands operands;
    struct ctl ctl;
    if (!command_parse(&ctl_command, argc, argv, NULL, WORDS_MAX, &operands))
        return operands.code;
    const int index = find_verb(&operands);
    if (index < 0)
        return EXIT_USAGE;
    if (!ctl_open(&ctl, operands.word[0]))
        return EXIT_NOTHING;
    const int code = verbs[index].run(&ctl, verbs[index].name, operands.word + 2, operands.count - 2);
    ctl_close(&ctl);
    return code;
}

const struct command ctl_command = {
    .name = "ctl",
    .usage = "SOCKET COMMAND [ARGUMENT...]",
    .summary = "drive a live view or a lane search that was started with --socket",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = no_options,
    .complete = "control",
    .run = ctl_run,
};
