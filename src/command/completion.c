// completion.c: the hidden command that prints completion scripts; words of all shells; the bash script
#include "command/completion.h"

#include "base/log.h"
#include "command/bench/bench.h"
#include "filter/filter.h"
#include "image/pixfmt.h"
#include "source/source.h"

#include <string.h>

enum { WORDS_BYTES = 1024 };

static void add_word(char *text, size_t size, const char *word)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
}

void completion_words(const char *complete, char *text, size_t size)
{
    text[0] = '\0';
    if (!complete)
        return;
    if (strcmp(complete, "source") == 0)
        for (int i = 0; source_word(i); i++)
            add_word(text, size, source_word(i));
    else if (strcmp(complete, "merge") == 0)
        snprintf(text, size, "merge");
    else if (strcmp(complete, "pixel-format") == 0)
        for (int i = 0; i <= PIXFMT_COUNT; i++)
            add_word(text, size, i < PIXFMT_COUNT ? pixfmt_info((enum pixfmt)i)->name : "mjpeg");
    else if (strcmp(complete, "filter") == 0)
        for (int i = 0; filters[i]; i++)
            add_word(text, size, filters[i]->name);
    else if (strcmp(complete, "measurement") == 0)
        for (int i = 0; measurements[i]; i++)
            add_word(text, size, measurements[i]->name);
    else if (strcmp(complete, "command") == 0)
        for (int i = 0; commands[i]; i++)
            if (!commands[i]->hidden)
                add_word(text, size, commands[i]->list->command);
}

bool completion_of_files(const struct option_list *list)
{
    static const char *const kinds[] = {"source", "file", "merge"};
    for (size_t i = 0; list->complete && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(list->complete, kinds[i]) == 0)
            return true;
    }
    return false;
}

bool completion_word_first(const struct option_list *list)
{
    return list->complete && strcmp(list->complete, "merge") == 0;
}

void completion_option_words(const struct option *o, char *text, size_t size)
{
    if (!o->choices) {
        completion_words(o->complete, text, size);
        return;
    }
    snprintf(text, size, "%s", o->choices);
    for (char *bar = text; (bar = strchr(bar, '|'));)
        *bar = ' ';
}

// Prints the case for an option that takes a value.
static void bash_value(FILE *out, const char *command, const struct option *o)
{
    char words[WORDS_BYTES];
    completion_option_words(o, words, sizeof(words));
    fprintf(out, "    %s,--%s", command, o->name);
    if (o->letter)
        fprintf(out, " | %s,-%c", command, o->letter);
    const char *complete = o->complete ? o->complete : "";
    if (strcmp(complete, "file") == 0)
        fprintf(out, ") _monocle_files -f ;;\n");
    else if (strcmp(complete, "directory") == 0)
        fprintf(out, ") _monocle_files -d ;;\n");
    else if (strcmp(complete, "filter") == 0)
        fprintf(out, ") _monocle_chain ;;\n");
    else
        fprintf(out, ") words='%s' ;;\n", words);
}

static void bash_command(FILE *out, const struct option_list *list)
{
    char words[WORDS_BYTES];
    completion_words(list->complete, words, sizeof(words));
    fprintf(out, "    %s,-*) words='--help", list->command);
    for (const struct option *o = list->options; o->name; o++)
        fprintf(out, " --%s", o->name);
    fprintf(out, "' ;;\n    %s,*) ", list->command);
    if (completion_word_first(list)) {
        fprintf(out, "[[ \" ${COMP_WORDS[*]:0:COMP_CWORD} \" == *\" %s \"* ]] && files=yes || words='%s' ;;\n", words,
                words);
        return;
    }
    fprintf(out, "words='%s'", words);
    if (completion_of_files(list))
        fprintf(out, "; files=yes");
    fprintf(out, " ;;\n");
}

static void completion_bash(FILE *out)
{
    char names[WORDS_BYTES];
    completion_words("command", names, sizeof(names));
    fprintf(out, "# bash completion for monocle, generated from its option tables\n"
                 "_monocle_files() {\n"
                 "    compopt -o filenames 2>/dev/null\n"
                 "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
                 "}\n"
                 "_monocle_chain() { # the last filter of a chain\n"
                 "    compopt -o nospace 2>/dev/null\n"
                 "    local tail=${cur##*,}\n");
    char words[WORDS_BYTES];
    completion_words("filter", words, sizeof(words));
    fprintf(out,
            "    mapfile -t COMPREPLY < <(compgen -P \"${cur%%\"$tail\"}\" -W '%s' -- \"$tail\")\n"
            "}\n"
            "_monocle() {\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} command=%s words= files= at\n"
            "    COMPREPLY=()\n"
            "    # Words are split at '=' and ':' too: go back to the option that the value belongs to.\n"
            "    [[ $cur == [=:] ]] && cur=\n"
            "    for ((at = COMP_CWORD - 1; at > 1; at--)); do\n"
            "        [[ ${COMP_WORDS[at]} == [=:] || ${COMP_WORDS[at + 1]} == [=:] ]] || break\n"
            "        [[ ${COMP_WORDS[at]} == -* ]] && break\n"
            "    done\n"
            "    if ((COMP_CWORD > 1)) && [[ \" %s \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
            "        command=${COMP_WORDS[1]}\n"
            "    fi\n"
            "    case $command,${COMP_WORDS[at]} in\n",
            words, commands[0]->list->command, names);
    for (int i = 0; commands[i]; i++)
        for (const struct option *o = commands[i]->list->options; !commands[i]->hidden && o->name; o++)
            if (o->type != OPTION_FLAG)
                bash_value(out, commands[i]->list->command, o);
    fprintf(out, "    *)\n    case $command,$cur in\n");
    for (int i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            bash_command(out, commands[i]->list);
    fprintf(out,
            "    esac\n"
            "    if ((COMP_CWORD == 1)); then # commands stand before files\n"
            "        words=\"%s --version $words\"\n"
            "        compopt -o nosort 2>/dev/null\n"
            "    fi\n"
            "    ;;\n"
            "    esac\n"
            "    [[ $words ]] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
            "    [[ $files ]] && _monocle_files -f\n"
            "    return 0\n"
            "}\n"
            "complete -F _monocle monocle\n",
            names);
}

static const struct option no_options[] = {{0}};
static const struct option_list list = {
    .command = "completion",
    .usage = "bash|zsh|fish",
    .summary = "print the completion script of a shell",
    .options = no_options,
};

static int completion_run(int argc, char **argv)
{
    static const struct {
        const char *shell;
        void (*print)(FILE *out);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, NULL, 1, &operands, &code))
        return code;
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
        if (operands.count == 1 && strcmp(operands.word[0], shells[i].shell) == 0) {
            shells[i].print(stdout);
            return EXIT_OK;
        }
    }
    log_error("name a shell; usage: monocle completion bash|zsh|fish");
    return EXIT_USAGE;
}

extern const struct command completion_command;
const struct command completion_command = {.list = &list, .run = completion_run, .hidden = true};
