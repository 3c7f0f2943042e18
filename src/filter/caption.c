// caption.c: the words of the filter `text`
#include "filter/caption.h"

#include "base/text.h"
#include "image/font.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIELD_MOST = 128 };
enum { FIELD_FRAME, FIELD_TIME, FIELD_SOURCE, FIELD_HOST, FIELDS };
static const char *const fields[FIELDS] = {"{frame}", "{time}", "{source}", "{host}"};

// Returns the field that the text begins with; FIELDS: none.
static int find_field(const char *text)
{
    int i = 0;
    while (i < FIELDS && strncmp(text, fields[i], strlen(fields[i])) != 0)
        i++;
    return i;
}

// Returns true for letters that need more than a place in a row: those written from right to left, marks on other
// letters, and characters that control the text.
static bool needs_layout(uint32_t letter)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},       {0x300, 0x36f},    {0x483, 0x489},   {0x590, 0x8ff},
                  {0xad, 0xad},     {0xeb1, 0xeb1},     {0xeb4, 0xebc},    {0xec8, 0xecd},   {0xfff9, 0xfffb},
                  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},   {0x200b, 0x200f},  {0x2028, 0x202e}, {0x2060, 0x206f},
                  {0x20d0, 0x20ff}, {0xfb1d, 0xfdff},   {0xfe00, 0xfe0f},  {0xfe20, 0xfe2f}, {0xfe70, 0xfeff},
                  {0xfffd, 0xfffd}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        if (letter >= ranges[i].first && letter <= ranges[i].last)
            return true;
    }
    return false;
}

static bool span_same(struct span a, struct span b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

// Canonical compositions of Unicode whose letter the font has: a mark, then pairs of a letter and the same with the
// mark.
static const struct {
    const char *mark, *pairs;
} compositions[] = {
    {"\u0300", "AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹЕЀИЍеѐиѝWẀwẁĂẰăằƠỜơờƯỪưừYỲyỳἀἂἁἃἈἊἉἋἐἒἑἓἘἚἙἛἠἢἡἣἨἪἩἫἰἲἱἳἸἺἹἻὀὂὁὃὈὊὉὋὐὒὑὓ"
               "ὙὛὠὢὡὣὨὪὩὫαὰεὲηὴιὶοὸυὺωὼΑᾺΕῈΗῊ᾿῍ϊῒΙῚ῾῝ϋῢΥῪ¨῭ΟῸΩῺ"},
    {"\u0301", "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÆǼæǽØǾøǿ¨΅ΑΆΕΈΗΉΙΊΟΌΥΎΩΏϊΐαάεέηήιίϋΰοόυύωώϒϓ"
               "ГЃКЌгѓкќÇḈçḉKḰkḱMḾmḿÕṌõṍPṔpṕŨṸũṹWẂwẃĂẮăắƠỚơớƯỨưứἀἄἁἅἈἌἉἍἐἔἑἕἘἜἙἝἠἤἡἥἨἬἩἭἰἴἱἵἸἼἹἽὀὄὁὅὈὌὉὍὐὔὑὕὙὝὠὤὡὥὨὬ"
               "ὩὭ᾿῎῾῞"},
    {"\u0302", "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệỌỘọộ"},
    {"\u0303", "AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽEẼeẽƠỠơỡƯỮưữYỸyỹ"},
    {"\u0304", "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳИӢиӣУӮуӯGḠgḡḶḸḷḹṚṜṛṝαᾱΑᾹιῑΙῙυῡΥῩ"},
    {"\u0306", "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуўЖӁжӂАӐаӑЕӖеӗȨḜȩḝẠẶạặαᾰΑᾸιῐΙῘυῠΥῨ"},
    {"\u0307", "CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡṢṨṣṩTṪtṫWẆwẇXẊxẋYẎyẏſẛ"},
    {"\u0308", "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋϒϔЕЁІЇеёіїАӒаӓӘӚәӛЖӜжӝЗӞзӟИӤиӥОӦоӧӨӪөӫЭӬэӭУӰуӱЧӴчӵЫӸыӹHḦhḧWẄwẅXẌxẍtẗ"},
    {"\u0309", "EẺeẻIỈiỉ"},
    {"\u030a", "AÅaåUŮuůwẘyẙ"},
    {"\u030b", "OŐoőUŰuűУӲуӳ"},
    {"\u030c", "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧKǨkǩƷǮʒǯjǰHȞhȟ"},
    {"\u030f", "AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕ"},
    {"\u0311", "AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ"},
    {"\u0313", "αἀΑἈεἐΕἘηἠΗἨιἰΙἸοὀΟὈυὐωὠΩὨρῤ"},
    {"\u0314", "αἁΑἉεἑΕἙηἡΗἩιἱΙἹοὁΟὉυὑΥὙωὡΩὩρῥΡῬ"},
    {"\u031b", "OƠoơUƯuư"},
    {"\u0323", "BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹIỊiịOỌoọƠỢơợUỤuụƯỰưựYỴyỵ"},
    {"\u0324", "UṲuṳ"},
    {"\u0325", "AḀaḁ"},
    {"\u0326", "SȘsșTȚtț"},
    {"\u0327", "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ"},
    {"\u0328", "AĄaąEĘeęIĮiįUŲuųOǪoǫ"},
    {"\u032d", "DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ"},
    {"\u032e", "HḪhḫ"},
    {"\u0330", "EḚeḛIḬiḭUṴuṵ"},
    {"\u0331", "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ"},
    {"\u0338", "←↚→↛↔↮⇐⇍⇔⇎⇒⇏∃∄∈∉∋∌∼≁≃≄≅≇≈≉=≠≡≢≍≭<≮>≯≤≰≥≱≲≴≳≵≶≸≷≹≺⊀≻⊁⊂⊄⊃⊅⊆⊈⊇⊉≼⋠≽⋡⊑⋢⊒⋣"},
    {"\u0342", "ἀἆἁἇἈἎἉἏἠἦἡἧἨἮἩἯἰἶἱἷἸἾἹἿὐὖὑὗὙὟὠὦὡὧὨὮὩὯαᾶ¨῁ηῆ᾿῏ιῖϊῗ῾῟υῦϋῧωῶ"},
    {"\u0345", "ἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈᾈἉᾉἊᾊἋᾋἌᾌἍᾍἎᾎἏᾏἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨᾘἩᾙἪᾚἫᾛἬᾜἭᾝἮᾞἯᾟὠᾠὡᾡὢᾢὣᾣὤᾤὥᾥὦᾦὧᾧὨᾨὩᾩὪᾪὫᾫὬᾬὭᾭὮᾮὯᾯὰᾲαᾳ"
               "άᾴᾶᾷΑᾼὴῂηῃήῄῆῇΗῌὼῲωῳώῴῶῷΩῼ"},
};

// Returns the letter with its mark as one letter; length 0: the font has none.
static struct span with_mark(struct span letter, struct span mark)
{
    for (size_t i = 0; i < sizeof(compositions) / sizeof(*compositions); i++) {
        struct span pairs = span_of(compositions[i].pairs);
        while (span_same(span_of(compositions[i].mark), mark) && pairs.length > 0) {
            const struct span plain = span_head(pairs, 1);
            span_next(&pairs);
            const struct span composed = span_head(pairs, 1);
            span_next(&pairs);
            if (span_same(plain, letter))
                return composed;
        }
    }
    return (struct span){0};
}

// Composes letters and marks, as the names of macOS have them, in place.
static void compose(char *text)
{
    struct span rest = span_of(text), last = {text, 0};
    char *end = text;
    while (rest.length > 0) {
        const struct span next = span_head(rest, 1), composed = with_mark(last, next),
                          now = composed.length ? composed : next;
        span_next(&rest);
        end -= composed.length > 0 ? last.length : 0;
        memmove(end, now.text, now.length);
        last = (struct span){end, now.length};
        end += now.length;
    }
    *end = '\0';
}

uint32_t caption_letter(const struct font *font, uint32_t letter)
{
    return !needs_layout(letter) && font_has(font, letter) ? letter : '?';
}

// Returns true if the font can write the letters of a text one after the other.
static bool has_letters(const char *text)
{
    struct font font;
    bool has = font_open(&font, 16);
    char composed[CAPTION_MOST];
    snprintf(composed, sizeof(composed), "%s", text);
    compose(composed);
    struct span span = span_of(composed);
    for (uint32_t letter = span_next(&span); has && letter; letter = span_next(&span))
        has = caption_letter(&font, letter) == letter;
    font_close(&font);
    return has;
}

const char *caption_check(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '{' && find_field(at) == FIELDS)
            return "there is no such field; use {frame}, {time}, {source} or {host}";
        if (*at != '%')
            continue;
        at += 1 + strspn(at + 1, "_-0^#");
        if (!*at || !strchr("aAbBcCdDeFgGhHIjklmMpPrRsSTuUVwWxXyYzZ%", *at))
            return "a % begins a conversion of strftime, such as %H; write %% for a percent sign";
    }
    return has_letters(text)
               ? NULL
               : "the font lacks a letter, or it is a combining mark or written from right to left; use others";
}

static void print_field(int field, const struct moment *moment, char text[FIELD_MOST])
{
    const char *source = moment->source ? moment->source : "", *slash = strrchr(source, '/');
    const int64_t ms = moment->time_ns / 1000000;
    text[0] = '\0';
    if (field == FIELD_FRAME)
        snprintf(text, FIELD_MOST, "%" PRIu64, moment->number);
    else if (field == FIELD_TIME)
        snprintf(text, FIELD_MOST, "%lld:%02d:%02d.%03d", (long long)(ms / 3600000), (int)(ms / 60000 % 60),
                 (int)(ms / 1000 % 60), (int)(ms % 1000));
    else if (field == FIELD_SOURCE)
        snprintf(text, FIELD_MOST, "%.*s", FIELD_MOST - 1, slash && slash[1] ? slash + 1 : source);
    else if (gethostname(text, FIELD_MOST - 1) != 0)
        text[0] = '\0';
    text[FIELD_MOST - 1] = '\0';
}

void caption_expand(const char *text, const struct moment *moment, char expanded[CAPTION_MOST])
{
    const time_t seconds = (time_t)moment->clock_s;
    char written[CAPTION_MOST], field[FIELD_MOST];
    struct tm local;
    size_t used = 0;
    expanded[0] = '\0';
    if (!localtime_r(&seconds, &local) || strftime(written, sizeof(written), text, &local) == 0)
        return;
    for (const char *at = written; *at && used < CAPTION_MOST - 1;) {
        const int found = find_field(at);
        snprintf(field, sizeof(field), "%c", *at);
        if (found < FIELDS)
            print_field(found, moment, field);
        used += (size_t)snprintf(expanded + used, CAPTION_MOST - used, "%s", field);
        at += found < FIELDS ? strlen(fields[found]) : 1;
    }
    compose(expanded);
}
