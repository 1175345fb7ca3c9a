/* Grammar of the declaration language: statements and blocks. Each action is one call of dsl.c.
 *
 *   file:       statements separated by line ends or `;`
 *   statement:  WORD value...
 *               WORD value... { statements }
 */
%require "3.8"
%expect 0
%define api.pure full
%define api.prefix {dsl_yy}
%define api.location.type {struct span}
%define parse.error custom
%locations
%param {struct dsl_scan *scan}

%code requires {
#include "frontend/dsl_tokens.h"
}
/* flex asks for the types under their unprefixed names. */
%code provides {
#define YYSTYPE DSL_YYSTYPE
#define YYLTYPE DSL_YYLTYPE
}
%code {
#define YYLLOC_DEFAULT(Current, Rhs, N)                                                                        \
    do {                                                                                                       \
        (Current) = (N) ? span_join(YYRHSLOC(Rhs, 1), YYRHSLOC(Rhs, N)) : YYRHSLOC(Rhs, 0);                    \
    } while (0)
}

%define api.value.type {struct key_value}
%define api.token.prefix {DSL_}
%token NEWLINE "end of line"
%token OPEN "`{`"
%token CLOSE "`}`"
%token WORD "a word"
%token STRING "a string"

%%

file: statements;

statements:
    statement
  | statements separator statement
  ;

statement:
    %empty
  | head                        { dsl_end(scan, NULL); }
  | head OPEN                   { dsl_open(scan, &@OPEN); }
    statements CLOSE            { dsl_close(scan, &@CLOSE); }
  | error                       { dsl_recover(scan); }
  ;

separator:
    NEWLINE                     { yyerrok; } /* a mistake ends with its line */
  ;

head:
    WORD                        { dsl_begin(scan, &$WORD); }
  | head WORD                   { dsl_value(scan, &$WORD); }
  | head STRING                 { dsl_value(scan, &$STRING); }
  ;

%%
static int yyreport_syntax_error(const yypcontext_t *ctx, struct dsl_scan *scan)
{
    yysymbol_kind_t token = yypcontext_token(ctx);
    dsl_unexpected(scan, yysymbol_name(token), *yypcontext_location(ctx), token == YYSYMBOL_YYEOF);
    return 0;
}
