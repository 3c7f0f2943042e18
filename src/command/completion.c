// completion.c: the hidden command that prints shell completion scripts, generated from the option tables
#include "command/shared.h"

#include "base/log.h"
#include "command/bench/bench.h"
#include "filter/filter.h"

#include <string.h>

enum { WORDS_BYTES = 1024 };

// How each shell completes a value that is not one of a few words: by the `complete` of its option.
struct value_kind {
    const char *complete, *bash, *zsh, *fish;
};

static const struct value_kind value_kinds[] = {
    {"file", "_monocle_files -f", "_files", " -r -F"},
    {"directory", "_monocle_files -d", "_files -/", " -x -a '(__fish_complete_directories)'"},
    {"filter", "_monocle_chain", "_monocle_chain", " -x -a '(__monocle_chain)'"},
};

// Returns NULL if the option has a few words instead.
static const struct value_kind *find_kind(const struct option *o)
{
    for (size_t i = 0; o->complete && i < sizeof(value_kinds) / sizeof(*value_kinds); i++) {
        if (strcmp(o->complete, value_kinds[i].complete) == 0)
            return &value_kinds[i];
    }
    return NULL;
}

static void add_word(char text[WORDS_BYTES], const char *word)
{
    const size_t used = strlen(text);
    snprintf(text + used, WORDS_BYTES - used, "%s%s", used ? " " : "", word);
}

// Writes the words for an operand or an option's value, separated by spaces: "blur gray"; "" if the shell must find
// them, as for files. `complete` may be NULL.
static void get_words(const char *complete, char text[WORDS_BYTES])
{
    text[0] = '\0';
    if (!complete)
        return;
    if (strcmp(complete, "source") == 0)
        for (int i = 0; source_word(i); i++)
            add_word(text, source_word(i));
    else if (strcmp(complete, "merge") == 0)
        snprintf(text, WORDS_BYTES, "merge");
    else if (strcmp(complete, "pixel-format") == 0)
        for (int i = 0; pixel_format_name(i); i++)
            add_word(text, pixel_format_name(i));
    else if (strcmp(complete, "filter") == 0)
        for (int i = 0; filters[i]; i++)
            add_word(text, filters[i]->name);
    else if (strcmp(complete, "measurement") == 0)
        for (int i = 0; measurements[i]; i++)
            add_word(text, measurements[i]->name);
    else if (strcmp(complete, "command") == 0)
        for (int i = 0; commands[i]; i++)
            if (!commands[i]->hidden)
                add_word(text, commands[i]->list->command);
}

// Returns true if the command's operands may be files.
static bool takes_files(const struct option_list *list)
{
    static const char *const kinds[] = {"source", "file", "merge"};
    for (size_t i = 0; list->complete && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(list->complete, kinds[i]) == 0)
            return true;
    }
    return false;
}

// Returns true if a word must precede the files: "report merge FILE...".
static bool word_first(const struct option_list *list)
{
    return list->complete && strcmp(list->complete, "merge") == 0;
}

// Writes the words for an option's value: its choices, else the words for its `complete`.
static void get_option_words(const struct option *o, char text[WORDS_BYTES])
{
    if (!o->choices) {
        get_words(o->complete, text);
        return;
    }
    snprintf(text, WORDS_BYTES, "%s", o->choices);
    for (char *bar = text; (bar = strchr(bar, '|'));)
        *bar = ' ';
}

// ---- bash ----

// Prints the case for an option that takes a value.
static void bash_value(const char *command, const struct option *o)
{
    const struct value_kind *kind = find_kind(o);
    char words[WORDS_BYTES];
    get_option_words(o, words);
    printf("    %s,--%s", command, o->name);
    if (o->letter)
        printf(" | %s,-%c", command, o->letter);
    if (kind)
        printf(") %s ;;\n", kind->bash);
    else
        printf(") words='%s' ;;\n", words);
}

static void bash_command(const struct option_list *list)
{
    char words[WORDS_BYTES];
    get_words(list->complete, words);
    printf("    %s,-*) words='--help", list->command);
    for (const struct option *o = list->options; o->name; o++)
        printf(" --%s", o->name);
    printf("' ;;\n    %s,*) ", list->command);
    if (word_first(list)) {
        printf("[[ \" ${COMP_WORDS[*]:0:COMP_CWORD} \" == *\" %s \"* ]] && files=yes || words='%s' ;;\n", words, words);
        return;
    }
    printf("words='%s'", words);
    if (takes_files(list))
        printf("; files=yes");
    printf(" ;;\n");
}

static void completion_bash(void)
{
    char names[WORDS_BYTES];
    get_words("command", names);
    printf("# bash completion for monocle, generated from its option tables\n"
           "_monocle_files() {\n"
           "    compopt -o filenames 2>/dev/null\n"
           "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
           "}\n"
           "_monocle_chain() { # the last filter of a chain\n"
           "    compopt -o nospace 2>/dev/null\n"
           "    local tail=${cur##*,}\n");
    char words[WORDS_BYTES];
    get_words("filter", words);
    printf("    mapfile -t COMPREPLY < <(compgen -P \"${cur%%\"$tail\"}\" -W '%s' -- \"$tail\")\n"
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
                bash_value(commands[i]->list->command, o);
    printf("    *)\n    case $command,$cur in\n");
    for (int i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            bash_command(commands[i]->list);
    printf("    esac\n"
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

// ---- zsh ----

// Escapes text for a specification of _arguments within single quotes.
static void zsh_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const struct option *o)
{
    const bool flag = o->type == OPTION_FLAG;
    char words[WORDS_BYTES];
    printf(" \\\n            ");
    if (o->letter)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, flag ? "" : "+", o->name,
               flag ? "" : "=");
    else
        printf("'--%s%s[", o->name, flag ? "" : "=");
    zsh_escaped(o->help);
    putchar(']');
    if (!flag) {
        putchar(':');
        zsh_escaped(o->value ? o->value : "value");
        putchar(':');
        const struct value_kind *kind = find_kind(o);
        get_option_words(o, words);
        if (kind)
            printf("%s", kind->zsh);
        else
            printf(*words ? "(%s)" : " ", words);
    }
    putchar('\'');
}

static void zsh_command(const struct option_list *list, bool is_default)
{
    char words[WORDS_BYTES];
    get_words(list->complete, words);
    printf("    %s)\n        _arguments -S -s '(-h --help)'{-h,--help}'[show this help]'",
           is_default ? "*" : list->command);
    for (const struct option *o = list->options; o->name; o++)
        zsh_option(o);
    const bool is_source = list->complete && strcmp(list->complete, "source") == 0;
    if (is_source)
        printf(" \\\n            '*:source:_monocle_source'");
    else if (*words)
        printf(" \\\n            '1:%s:(%s)'", list->complete, words);
    if (!is_source && takes_files(list))
        printf(" \\\n            '*:file:_files'");
    printf("\n        ;;\n");
}

static void completion_zsh(void)
{
    char words[WORDS_BYTES];
    get_words("filter", words);
    printf("#compdef monocle\n"
           "# zsh completion for monocle, generated from its option tables\n"
           "_monocle_chain() {\n"
           "    compset -P '*,'\n"
           "    compadd -S '' -- %s\n"
           "}\n",
           words);
    get_words("source", words);
    printf("_monocle_source() {\n"
           "    compadd -- %s\n"
           "    _files\n"
           "}\n"
           "_monocle() {\n"
           "    local -a commands\n"
           "    commands=(",
           words);
    for (int i = 0; commands[i]; i++) {
        if (commands[i]->hidden)
            continue;
        printf("\n        '%s:", commands[i]->list->command);
        zsh_escaped(commands[i]->list->summary);
        putchar('\'');
    }
    printf("\n    )\n"
           "    if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then\n"
           "        _describe -t commands command commands\n"
           "        _monocle_source\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    if (($commands[(I)$command:*])); then\n"
           "        shift words\n"
           "        ((CURRENT--))\n"
           "    fi\n"
           "    case $command in\n");
    for (int i = 1; commands[i]; i++)
        if (!commands[i]->hidden)
            zsh_command(commands[i]->list, false);
    zsh_command(commands[0]->list, true);
    printf("    esac\n}\nif [[ $funcstack[1] == _monocle ]]; then\n    _monocle \"$@\"\nelse\n"
           "    compdef _monocle monocle\nfi\n");
}

// ---- fish ----

static void fish_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('\'');
}

static void fish_option(const char *command, const struct option *o)
{
    const struct value_kind *kind = find_kind(o);
    char words[WORDS_BYTES];
    get_option_words(o, words);
    printf("complete -c monocle -n '__monocle_command %s'", command);
    if (o->letter)
        printf(" -s %c", o->letter);
    printf(" -l %s", o->name);
    if (o->type != OPTION_FLAG && kind)
        printf("%s", kind->fish);
    else if (o->type != OPTION_FLAG)
        printf(" -x -a '%s'", words);
    printf(" -d ");
    fish_quoted(o->help);
    putchar('\n');
}

static void fish_command(const struct option_list *list)
{
    char words[WORDS_BYTES];
    get_words(list->complete, words);
    if (word_first(list))
        printf("complete -c monocle -n '__monocle_command %s; and __fish_seen_subcommand_from %s' -F\n"
               "complete -c monocle -n '__monocle_command %s; and not __fish_seen_subcommand_from %s' -f",
               list->command, words, list->command, words);
    else
        printf("complete -c monocle -n '__monocle_command %s' %s", list->command, takes_files(list) ? "-F" : "-f");
    if (*words)
        printf(" -a '%s'", words);
    printf("\ncomplete -c monocle -n '__monocle_command %s' -s h -l help -d 'show this help'\n", list->command);
    for (const struct option *o = list->options; o->name; o++)
        fish_option(list->command, o);
}

static void completion_fish(void)
{
    char filter_words[WORDS_BYTES], names[WORDS_BYTES];
    get_words("filter", filter_words);
    get_words("command", names);
    printf("# fish completion for monocle, generated from its option tables\n"
           "function __monocle_command\n"
           "    set -l words (commandline -opc)\n"
           "    set -l command %s\n"
           "    if set -q words[2]; and contains -- $words[2] %s\n"
           "        set command $words[2]\n"
           "    end\n"
           "    test $command = $argv[1]\n"
           "end\n"
           "function __monocle_chain\n"
           "    set -l head (string match -r '.*,' -- (commandline -ct))\n"
           "    for name in %s\n"
           "        echo \"$head$name\"\n"
           "    end\n"
           "end\n"
           "complete -c monocle -n 'test (count (commandline -opc)) -eq 1' -l version -d 'print the version'\n",
           commands[0]->list->command, names, filter_words);
    for (int i = 0; commands[i]; i++) {
        if (commands[i]->hidden)
            continue;
        printf("complete -c monocle -n 'test (count (commandline -opc)) -eq 1' -a %s -d ", commands[i]->list->command);
        fish_quoted(commands[i]->list->summary);
        putchar('\n');
        fish_command(commands[i]->list);
    }
}

// ---- the command ----

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
        void (*print)(void);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, NULL, 1, &operands, &code))
        return code;
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
        if (operands.count == 1 && strcmp(operands.word[0], shells[i].shell) == 0) {
            shells[i].print();
            return EXIT_OK;
        }
    }
    log_error("name a shell; usage: monocle completion bash|zsh|fish");
    return EXIT_USAGE;
}

extern const struct command completion_command;
const struct command completion_command = {.list = &list, .run = completion_run, .hidden = true};
