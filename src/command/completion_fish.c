// completion_fish.c: the fish completion script
#include "command/completion.h"

#include <string.h>

enum { WORDS_BYTES = 1024 };

static void print_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        fprintf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('\'', out);
}

static void print_option(FILE *out, const char *command, const struct option *o)
{
    char words[WORDS_BYTES];
    completion_option_words(o, words, sizeof(words));
    const char *complete = o->complete ? o->complete : "";
    fprintf(out, "complete -c monocle -n '__monocle_command %s'", command);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    fprintf(out, " -l %s", o->name);
    if (o->type == OPTION_FLAG)
        ;
    else if (strcmp(complete, "file") == 0)
        fprintf(out, " -r -F");
    else if (strcmp(complete, "directory") == 0)
        fprintf(out, " -x -a '(__fish_complete_directories)'");
    else if (strcmp(complete, "filter") == 0)
        fprintf(out, " -x -a '(__monocle_chain)'");
    else
        fprintf(out, " -x -a '%s'", words);
    fprintf(out, " -d ");
    print_quoted(out, o->help);
    fputc('\n', out);
}

static void print_command(FILE *out, const struct option_list *list)
{
    char words[WORDS_BYTES];
    completion_words(list->complete, words, sizeof(words));
    if (completion_word_first(list))
        fprintf(out,
                "complete -c monocle -n '__monocle_command %s; and __fish_seen_subcommand_from %s' -F\n"
                "complete -c monocle -n '__monocle_command %s; and not __fish_seen_subcommand_from %s' -f",
                list->command, words, list->command, words);
    else
        fprintf(out, "complete -c monocle -n '__monocle_command %s' %s", list->command,
                completion_of_files(list) ? "-F" : "-f");
    if (*words)
        fprintf(out, " -a '%s'", words);
    fprintf(out, "\ncomplete -c monocle -n '__monocle_command %s' -s h -l help -d 'show this help'\n", list->command);
    for (const struct option *o = list->options; o->name; o++)
        print_option(out, list->command, o);
}

void completion_fish(FILE *out)
{
    char filter_words[WORDS_BYTES], names[WORDS_BYTES];
    completion_words("filter", filter_words, sizeof(filter_words));
    completion_words("command", names, sizeof(names));
    fprintf(out,
            "# fish completion for monocle, generated from its option tables\n"
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
        fprintf(out, "complete -c monocle -n 'test (count (commandline -opc)) -eq 1' -a %s -d ",
                commands[i]->list->command);
        print_quoted(out, commands[i]->list->summary);
        fputc('\n', out);
        print_command(out, commands[i]->list);
    }
}
