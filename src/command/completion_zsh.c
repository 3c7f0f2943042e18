// completion_zsh.c: the zsh completion script, for _arguments
#include "command/completion.h"

#include <string.h>

enum { WORDS_BYTES = 1024 };

// Escapes text for a specification of _arguments within single quotes.
static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fprintf(out, "'\\''");
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

// Prints the action of _arguments that completes a value.
static void print_action(FILE *out, const char *complete, const char *words)
{
    static const struct {
        const char *complete, *action;
    } actions[] = {{"file", "_files"}, {"directory", "_files -/"}, {"filter", "_monocle_chain"}};
    for (size_t i = 0; complete && i < sizeof(actions) / sizeof(*actions); i++) {
        if (strcmp(complete, actions[i].complete) == 0) {
            fprintf(out, "%s", actions[i].action);
            return;
        }
    }
    if (*words)
        fprintf(out, "(%s)", words);
    else
        fputc(' ', out);
}

static void print_option(FILE *out, const struct option *o)
{
    const bool flag = o->type == OPTION_FLAG;
    char words[WORDS_BYTES];
    fprintf(out, " \\\n            ");
    if (o->letter)
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, flag ? "" : "+", o->name,
                flag ? "" : "=");
    else
        fprintf(out, "'--%s%s[", o->name, flag ? "" : "=");
    print_escaped(out, o->help);
    fputc(']', out);
    if (!flag) {
        fputc(':', out);
        print_escaped(out, o->value ? o->value : "value");
        fputc(':', out);
        completion_option_words(o, words, sizeof(words));
        print_action(out, o->complete, words);
    }
    fputc('\'', out);
}

static void print_command(FILE *out, const struct option_list *list, bool is_default)
{
    char words[WORDS_BYTES];
    completion_words(list->complete, words, sizeof(words));
    fprintf(out, "    %s)\n        _arguments -S -s '(-h --help)'{-h,--help}'[show this help]'",
            is_default ? "*" : list->command);
    for (const struct option *o = list->options; o->name; o++)
        print_option(out, o);
    const bool is_source = list->complete && strcmp(list->complete, "source") == 0;
    if (is_source)
        fprintf(out, " \\\n            '*:source:_monocle_source'");
    else if (*words)
        fprintf(out, " \\\n            '1:%s:(%s)'", list->complete, words);
    if (!is_source && completion_of_files(list))
        fprintf(out, " \\\n            '*:file:_files'");
    fprintf(out, "\n        ;;\n");
}

void completion_zsh(FILE *out)
{
    char words[WORDS_BYTES];
    completion_words("filter", words, sizeof(words));
    fprintf(out,
            "#compdef monocle\n"
            "# zsh completion for monocle, generated from its option tables\n"
            "_monocle_chain() {\n"
            "    compset -P '*,'\n"
            "    compadd -S '' -- %s\n"
            "}\n",
            words);
    completion_words("source", words, sizeof(words));
    fprintf(out,
            "_monocle_source() {\n"
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
        fprintf(out, "\n        '%s:", commands[i]->list->command);
        print_escaped(out, commands[i]->list->summary);
        fputc('\'', out);
    }
    fprintf(out, "\n    )\n"
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
            print_command(out, commands[i]->list, false);
    print_command(out, commands[0]->list, true);
    fprintf(out, "    esac\n}\nif [[ $funcstack[1] == _monocle ]]; then\n    _monocle \"$@\"\nelse\n"
                 "    compdef _monocle monocle\nfi\n");
}
