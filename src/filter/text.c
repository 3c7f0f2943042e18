// text.c: the filter `text`: a text on the image
#include "filter/chain.h"
#include "filter/picture.h"

#include "base/hash.h"
#include "base/text.h"
#include "image/font.h"
#include "image/imagefile.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- letters and fields ----

enum { FIELD_MOST = 128 };

struct known_facts {
    char path[PATH_MAX]; // "": none yet
    struct imagefile_facts facts;
};
static _Thread_local struct known_facts known;

enum { FIELD_FRAME, FIELD_TIME, FIELD_SOURCE, FIELD_STEM, FIELD_HOST, FIELD_DATE, FIELD_MODEL, FIELDS };
static const char *const fields[FIELDS] = {"{frame}", "{time}", "{source}", "{stem}", "{host}", "{date}", "{model}"};

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

// Returns the letter, or a question mark if it cannot be shown.
static uint32_t font_letter_for(const struct font *font, uint32_t letter)
{
    return !needs_layout(letter) && font_has(font, letter) ? letter : '?';
}

// Returns true if the font can write the letters of a text one after the other.
static bool has_letters(const char *text)
{
    struct font font;
    bool has = font_open(&font, 16);
    char composed[TEXT_FILTER_MOST];
    snprintf(composed, sizeof(composed), "%s", text);
    compose(composed);
    struct span span = span_of(composed);
    for (uint32_t letter = span_next(&span); has && letter; letter = span_next(&span))
        has = font_letter_for(&font, letter) == letter;
    font_close(&font);
    return has;
}

const char *text_filter_why(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '{' && find_field(at) == FIELDS)
            return "there is no such field; use {frame}, {time}, {source}, {stem}, {host}, {date} or {model}";
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

// Returns what the source says of its photograph. A thread reads a file once, not for each frame.
static const struct imagefile_facts *facts_of(const char *source)
{
    if (strcmp(known.path, source) != 0) {
        snprintf(known.path, sizeof(known.path), "%s", source);
        imagefile_facts(source, &known.facts);
    }
    return &known.facts;
}

static void print_field(int field, const struct frame_time *frame_time, char text[FIELD_MOST])
{
    const char *source = frame_time->source ? frame_time->source : "", *slash = strrchr(source, '/');
    const char *name = slash && slash[1] ? slash + 1 : source, *dot = strrchr(name, '.');
    const int64_t ms = frame_time->time_ns / 1000000;
    text[0] = '\0';
    if (field == FIELD_FRAME)
        snprintf(text, FIELD_MOST, "%" PRIu64, frame_time->number);
    else if (field == FIELD_TIME)
        snprintf(text, FIELD_MOST, "%lld:%02d:%02d.%03d", (long long)(ms / 3600000), (int)(ms / 60000 % 60),
                 (int)(ms / 1000 % 60), (int)(ms % 1000));
    else if (field == FIELD_SOURCE)
        snprintf(text, FIELD_MOST, "%.*s", FIELD_MOST - 1, name);
    else if (field == FIELD_STEM)
        snprintf(text, FIELD_MOST, "%.*s", dot && dot > name ? (int)(dot - name) : FIELD_MOST - 1, name);
    else if (field == FIELD_DATE || field == FIELD_MODEL)
        snprintf(text, FIELD_MOST, "%s", field == FIELD_DATE ? facts_of(source)->date : facts_of(source)->model);
    else if (gethostname(text, FIELD_MOST - 1) != 0)
        text[0] = '\0';
    text[FIELD_MOST - 1] = '\0';
}

void text_filter_expand(const char *text, const struct frame_time *frame_time, char expanded[TEXT_FILTER_MOST])
{
    const time_t seconds = (time_t)frame_time->clock_s;
    char written[TEXT_FILTER_MOST], field[FIELD_MOST];
    struct tm local;
    size_t used = 0;
    expanded[0] = '\0';
    if (!localtime_r(&seconds, &local) || strftime(written, sizeof(written), text, &local) == 0)
        return;
    for (const char *at = written; *at && used < TEXT_FILTER_MOST - 1;) {
        const int found = find_field(at);
        snprintf(field, sizeof(field), "%c", *at);
        if (found < FIELDS)
            print_field(found, frame_time, field);
        used += (size_t)snprintf(expanded + used, TEXT_FILTER_MOST - used, "%s", field);
        at += found < FIELDS ? strlen(fields[found]) : 1;
    }
    compose(expanded);
}

// ---- the filter ----

enum { TEXT_TEXT, TEXT_X, TEXT_Y, TEXT_SIZE, TEXT_COLOR, TEXT_AT, TEXT_BOX };
enum { ARGUMENT_X, ARGUMENT_Y, ARGUMENT_WIDTH, ARGUMENT_HEIGHT, ARGUMENT_PIXELS };
enum { LINE_LEAST = 8, LINE_MOST = 4096, HASH_NUMBERS = 2 };
#define DEFAULT_TEXT "{time}"

static const struct param params[] = {
    {"text", PARAM_TEXT, .max = 1, .step = 1, .choices = DEFAULT_TEXT,
     .help = "the text; may have {frame}, {time} (of the frame), {source}, {stem} (without ending), "
             "{host}, {date} and {model} (of a photograph) and strftime's %H:%M:%S"},
    {"x", PARAM_INT, .min = -PLACE_MOST, .max = PLACE_MOST, .step = 8,
     .help = "pixels from the edge that `at` names, or right of the middle"},
    {"y", PARAM_INT, .min = -PLACE_MOST, .max = PLACE_MOST, .step = 8, .help = "likewise, or below the middle"},
    {"size", PARAM_REAL, .min = 1, .max = 100, .preset = 5, .step = 1,
     .help = "height of the line in percent of the image's"},
    {"color", PARAM_COLOR, .max = COLOR_MAX, .preset = COLOR_MAX, .step = COLOR_STEP, .help = "colour of the letters"},
    {"at", PARAM_CHOICE, .max = PLACE_LAST, .step = 1, .choices = PLACE_CHOICES, .help = "position of the text"},
    {"box", PARAM_REAL, .max = 1, .preset = 0.4f, .step = 0.1f, .help = "opacity of the black background of the text"},
    {0},
};

static const char *text_of(const struct filter_values *values)
{
    return values->value[TEXT_TEXT] > 0 ? values->file : DEFAULT_TEXT;
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    *why = text_filter_why(text_of(values));
    arguments->count = ARGUMENT_PIXELS + HASH_NUMBERS;
    return !*why;
}

// ---- the picture of the text ----

static int line_of(const struct filter_values *values, const struct stage_size *size)
{
    const double line = floor(size->height * (double)values->value[TEXT_SIZE] / 100 + 0.5);
    return (int)fmin(fmax(line, LINE_LEAST), LINE_MOST);
}

static int room_at_sides(int line)
{
    return line / 3;
}

static int room_above(int line)
{
    return line / 8;
}

// There is room for a picture as wide as the image. A hash of the text follows.
static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    const int line = line_of(values, size);
    arguments->count = ARGUMENT_PIXELS + size->width * (line + 2 * room_above(line)) + HASH_NUMBERS;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    return true; // `follow` draws
}

// Draws a letter over the pixels of the picture, whose colours are multiplied by alpha.
static void draw_letter(int32_t *numbers, const struct font_letter *letter, int x, int base, int color)
{
    const int width = numbers[ARGUMENT_WIDTH], height = numbers[ARGUMENT_HEIGHT];
    const int channel[] = {color >> 16, color >> 8 & 255, color & 255, 255};
    for (int row = 0; row < letter->height; row++) {
        for (int column = 0; column < letter->width; column++) {
            const int u = x + letter->left + column, v = base + letter->top + row;
            if (u < 0 || v < 0 || u >= width || v >= height)
                continue;
            uint8_t *pixel = (uint8_t *)(numbers + ARGUMENT_PIXELS + v * width + u);
            const int share = letter->coverage[row * letter->width + column];
            for (int i = 0; i < 4; i++)
                pixel[i] = (uint8_t)((channel[i] * share + pixel[i] * (255 - share) + 127) / 255);
        }
    }
}

static int64_t columns_of(struct span text, const struct font *font, int line)
{
    return (int64_t)span_columns(text) * font->advance + 2 * room_at_sides(line);
}

static bool draw(const struct stage *stage, const struct stage_size *size, const char *text, int32_t *numbers)
{
    const float *value = stage->values.value;
    int line = line_of(&stage->values, size);
    struct font font;
    struct span span = span_of(text);
    bool ok = font_open(&font, line);
    while (ok && line > LINE_LEAST && columns_of(span, &font, line) > size->width) { // too wide: smaller letters
        font_close(&font);
        ok = font_open(&font, --line);
    }
    if (!ok) {
        font_close(&font);
        return false;
    }
    const int above = room_above(line), sides = room_at_sides(line), height = line + 2 * above;
    const int64_t wanted = span.length > 0 ? columns_of(span, &font, line) : 0;
    const int width = wanted < size->width ? (int)wanted : size->width;
    numbers[ARGUMENT_X] = place_column((int)value[TEXT_AT], (int)value[TEXT_X], width, size->width);
    numbers[ARGUMENT_Y] = place_row((int)value[TEXT_AT], (int)value[TEXT_Y], height, size->height);
    numbers[ARGUMENT_WIDTH] = width;
    numbers[ARGUMENT_HEIGHT] = height;
    const uint32_t box = (uint32_t)floor(255 * (double)value[TEXT_BOX] + 0.5) << 24;
    for (int i = 0; i < width * height; i++)
        memcpy(&numbers[ARGUMENT_PIXELS + i], &box, sizeof(box));
    int x = sides;
    for (uint32_t letter = span_next(&span); letter && x < width; letter = span_next(&span), x += font.advance) {
        const struct font_letter drawn = font_letter(&font, font_letter_for(&font, letter));
        draw_letter(numbers, &drawn, x, above + font.base, (int)value[TEXT_COLOR]);
    }
    font_close(&font);
    return true;
}

static int follow(const struct stage *stage, const struct stage_size *size, const struct frame_time *frame_time,
                  int32_t *numbers)
{
    char text[TEXT_FILTER_MOST];
    text_filter_expand(text_of(&stage->values), frame_time, text);
    const uint64_t hash = hash_64(text, strlen(text)) | 1; // 0: nothing is drawn yet
    int32_t *kept = numbers + stage->arguments.count - HASH_NUMBERS;
    if (memcmp(kept, &hash, sizeof(hash)) == 0 || !draw(stage, size, text, numbers))
        return 0;
    memcpy(kept, &hash, sizeof(hash));
    return ARGUMENT_PIXELS + numbers[ARGUMENT_WIDTH] * numbers[ARGUMENT_HEIGHT];
}

extern const struct filter filter_text;
const struct filter filter_text = {
    .name = "text",
    .summary = "write a text: the time, the frame, the source",
    .example = "text='a raccoon':size=12:at=bottom",
    LAYS_PICTURE,
    .follow = follow,
};
