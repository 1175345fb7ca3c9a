/* Prints the JSON Schema (2020-12) of the native YAML, made from the key table: docs/declaration.schema.json.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/keys.h"

static json_t *object(const char *key, json_t *value)
{
    json_t *o = json_object();
    json_object_set_new(o, key, value);
    return o;
}

static json_t *typed(const char *type)
{
    return object("type", json_string(type));
}

static json_t *pattern(const char *text)
{
    json_t *o = typed("string");
    json_object_set_new(o, "pattern", json_string(text));
    return o;
}

static json_t *range(long long least, long long most)
{
    json_t *o = typed("integer");
    json_object_set_new(o, "minimum", json_integer(least));
    json_object_set_new(o, "maximum", json_integer(most));
    return o;
}

static json_t *either(json_t *a, json_t *b)
{
    json_t *list = json_array();
    json_array_append_new(list, a);
    json_array_append_new(list, b);
    return object("anyOf", list);
}

static json_t *words(const char *text)
{
    json_t *list = json_array();
    for (const char *w = text; *w;) {
        size_t n = strcspn(w, "|");
        if (n == 4 && !memcmp(w, "true", 4))
            json_array_append_new(list, json_true());
        else if (n == 5 && !memcmp(w, "false", 5))
            json_array_append_new(list, json_false());
        else
            json_array_append_new(list, json_stringn(w, n));
        w += n + (w[n] == '|');
    }
    return object("enum", list);
}

static json_t *closed(json_t *properties)
{
    json_t *o = typed("object");
    json_object_set_new(o, "properties", properties);
    json_object_set_new(o, "additionalProperties", json_false());
    return o;
}

static json_t *path(const struct key *k)
{
    static const struct {
        const char *word;
        unsigned flag;
    } WORDS[] = {{"literal", DECL_LITERAL},
                 {"optional", DECL_OPTIONAL},
                 {"snapshot", DECL_SNAPSHOT},
                 {"stub", DECL_STUB}};
    json_t *properties = object("path", pattern("[^ \\t\\r\\n]"));
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (WORDS[i].flag == DECL_LITERAL || k->path_words & WORDS[i].flag)
            json_object_set_new(properties, WORDS[i].word, typed("boolean"));
    if (k->path_words & DECL_CREATE)
        json_object_set_new(properties, "create",
                            words(k->path_words & DECL_CREATE_FILE ? "true|false|file" : "true|false"));
    json_t *map = closed(properties), *required = json_array();
    json_array_append_new(required, json_string("path"));
    json_object_set_new(map, "required", required);
    return either(pattern("[^ \\t\\r\\n]"), map);
}

#define WHOLE "[1-9][0-9]*"
#define PART "(0|[1-9][0-9]*)"

static json_t *plain(const struct key *k)
{
    switch (k->type) {
    case KEY_TEXT:
        return typed("string");
    case KEY_NAME:
        return pattern("^[^\\u0000-\\u001f\\u007f]+$");
    case KEY_WORD:
        return words(k->words);
    case KEY_PATH:
        return path(k);
    case KEY_VARIABLE:
        return pattern("^[^=*\\u0000-\\u001f\\u007f]+$");
    case KEY_GLOB:
        return pattern("^([^=*\\u0000-\\u001f\\u007f]+\\*?|\\*)$");
    case KEY_ENTRY:
        return pattern("^(unix:.+|.+:(\\*|" WHOLE "))$");
    case KEY_TIME:
        return either(range(1, 31536000000),
                      pattern("^(" WHOLE "|(?=.)(" PART "h)?(" PART "m)?(" PART "s)?(" PART "ms)?)$"));
    case KEY_SIZE:
        return either(range(1, 1LL << 60), pattern("^" WHOLE "(B|K|KiB|M|MiB|G|GiB|kB|MB|GB)?$"));
    case KEY_COUNT:
        return either(range(1, UINT32_MAX), pattern("^" WHOLE "$"));
    case KEY_CPU: {
        json_t *number = typed("number");
        json_object_set_new(number, "exclusiveMinimum", json_integer(0));
        return either(number, pattern("^" PART "(\\.[0-9]{1,3})?$"));
    }
    case KEY_WEIGHT:
        return either(range(1, 10000), pattern("^" WHOLE "$"));
    case KEY_PORT:
        return either(range(1, 65535), pattern("^" WHOLE "$"));
    case KEY_FD:
        return either(range(3, 1023), pattern("^" WHOLE "$"));
    }
    return json_true();
}

static json_t *table(const struct key *rows);

static json_t *value(const struct key *k)
{
    json_t *v = NULL;
    switch (k->shape) {
    case KEY_SCALAR:
        v = plain(k);
        break;
    case KEY_LIST: {
        json_t *list = typed("array");
        json_object_set_new(list, "items", plain(k));
        if (k->some)
            json_object_set_new(list, "minItems", json_integer(1));
        v = either(plain(k), list);
        break;
    }
    case KEY_PAIRS: {
        json_t *types = json_array(), *item;
        json_array_append_new(types, json_string("string"));
        json_array_append_new(types, json_string(k->bare ? "null" : "number"));
        item = object("type", types);
        v = typed("object");
        json_object_set_new(v, "additionalProperties", item);
        json_object_set_new(v, "propertyNames",
                            pattern(k->bare ? "^(?!(HOME|WORK_DIR|SKILL_DIR|TMPDIR)$)[A-Za-z_][A-Za-z0-9_]*$"
                                            : "^[^=*\\u0000-\\u001f\\u007f]+$"));
        break;
    }
    case KEY_BLOCK:
        v = closed(table(k->children));
        return k->words ? either(words(k->words), v) : v;
    }
    return k->words && k->type != KEY_WORD ? either(words(k->words), v) : v;
}

static json_t *table(const struct key *rows)
{
    json_t *properties = json_object();
    for (const struct key *k = rows; k->dsl || k->yaml; k++) {
        if (!k->yaml)
            continue;
        json_t *v = value(k);
        json_object_set_new(v, "description", json_string(k->expect));
        json_object_set_new(properties, k->yaml, v);
    }
    return properties;
}

static json_t *names_of(const char *ref)
{
    json_t *o = typed("object");
    json_object_set_new(o, "additionalProperties", object("$ref", json_string(ref)));
    json_object_set_new(o, "minProperties", json_integer(1));
    return o;
}

static json_t *files(void)
{
    json_t *list = typed("array");
    json_object_set_new(list, "items", pattern("."));
    return either(pattern("."), list);
}

/* The clauses, and what else may stand beside them. */
static json_t *profile(json_t *more)
{
    json_t *o = typed("object");
    json_object_set_new(o, "$ref", json_string("#/$defs/clauses"));
    json_object_set_new(o, "properties", more);
    json_object_set_new(o, "unevaluatedProperties", json_false());
    return o;
}

int main(void)
{
    json_t *root = json_object(), *defs = json_object(), *clauses = table(key_profile), *kinds = json_array();
    json_t *single = object("include", files()), *several = object("include", files()),
           *required = json_array();
    /* In a file of several the name is the key. */
    json_object_set(single, "name", json_object_get(clauses, "name"));
    json_object_del(clauses, "name");
    json_object_set_new(several, "profiles", names_of("#/$defs/profile"));
    json_object_set_new(several, "scopes", names_of("#/$defs/scope"));
    json_t *scope = profile(object("of", pattern(".")));
    json_array_append_new(required, json_string("of"));
    json_object_set_new(scope, "required", required);
    json_object_set_new(defs, "clauses", object("properties", clauses));
    json_object_set_new(defs, "profile", profile(json_object()));
    json_object_set_new(defs, "scope", scope);
    json_array_append_new(kinds, profile(single));
    json_array_append_new(kinds, closed(several));
    json_object_set_new(root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(root, "title", json_string("A declaration for sbxc, in YAML"));
    json_object_set_new(root, "anyOf", kinds);
    json_object_set_new(root, "$defs", defs);
    bool ok = json_dumpf(root, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF && fflush(stdout) == 0;
    json_decref(root);
    return ok ? 0 : 1;
}
