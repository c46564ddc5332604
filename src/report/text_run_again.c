// SPDX-License-Identifier: Apache-2.0
/* The command that measures the same again, from the options that a session has. */
#include <stdio.h>
#include <string.h>

#include "../base/utf8.h"
#include "text.h"

#define WORD_BYTES (4 * DIGEST_TEXT + 8)

/* Words of a shell's command line, as many in a line as fit; a backslash continues it. */
struct line {
	const struct page *page;
	int at; /* columns that are used */
};

static void put_word(struct line *line, const char *word)
{
	int columns = (int)utf8_columns(word);

	if (line->at + 1 + columns + 2 > line->page->columns && line->at > 4) {
		fputs(" \\\n   ", line->page->out);
		line->at = 3;
	}
	fprintf(line->page->out, " %s", word);
	line->at += 1 + columns;
}

/* As a shell takes it for one word, whatever is in it. */
static void quote(const char *text, char ret_word[WORD_BYTES])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";
	size_t used = 0;

	if (*text && !text[strspn(text, plain)]) {
		snprintf(ret_word, WORD_BYTES, "%s", text);
		return;
	}
	ret_word[used++] = '\'';
	for (; *text && used < WORD_BYTES - 6; text++) {
		if (*text == '\'')
			used += (size_t)snprintf(ret_word + used, WORD_BYTES - used, "'\\''");
		else
			ret_word[used++] = *text;
	}
	ret_word[used++] = '\'';
	ret_word[used] = '\0';
}

/* "-d 10" is two words, "--kernel=64K" one. */
static void put_option(struct line *line, const char *option)
{
	size_t name = strcspn(option, " ");
	char word[WORD_BYTES], text[2 * DIGEST_TEXT];

	snprintf(text, sizeof(text), "%.*s", (int)name, option);
	quote(ESCAPED(text), word);
	put_word(line, word);
	if (!option[name])
		return;
	quote(ESCAPED(option + name + 1), word);
	put_word(line, word);
}

static void put_options(const struct digest *digest, struct line *line)
{
	char key[32];

	for (unsigned int i = 0;; i++) {
		const char *option;

		snprintf(key, sizeof(key), "option.%u", i);
		option = digest_meta(digest, key);
		if (!*option)
			return;
		put_option(line, option);
	}
}

static void print_command(const struct digest *digest, const struct page *page, const char *kind)
{
	const char *command = digest_meta(digest, "command");
	struct line line = {.page = page};
	char word[WORD_BYTES], text[512] = "";

	line.at = fprintf(page->out, "Run again: sudo dwell %s", ESCAPED(kind));
	put_options(digest, &line);
	if (*command) {
		quote(ESCAPED(command), word);
		put_word(&line, "--");
		put_word(&line, word);
		put_word(&line, "…");
	}
	fputc('\n', page->out);
	if (*command)
		format_add(text, sizeof(text),
			   "(dwell stores the command's name only: replace … by its arguments)");
	if (digest_meta_number(digest, "options_cut"))
		format_add(text, sizeof(text), "%s(%s options were too long to keep: add them)",
			   *text ? " " : "", NUMBER(digest_meta_number(digest, "options_cut")));
	if (*digest_meta(digest, "run_id"))
		format_add(text, sizeof(text),
			   "%s(run id %s: sessions with the same id have the same options and the "
			   "same dwell)",
			   *text ? " " : "", ESCAPED(digest_meta(digest, "run_id")));
	if (!*text)
		return;
	fputs("  ", page->out);
	page_wrap(page, 2, 2, text);
}

void text_again(const struct digest *digest, const struct page *page)
{
	const char *kind = digest_meta(digest, "kind"), *session = digest->options->session;
	char line[2048] = "";

	fputc('\n', page->out);
	if (*kind)
		print_command(digest, page, kind);
	else
		page_wrap(page, 0, 2,
			  "Run again: not known: an older dwell recorded this session, and did not "
			  "store its options");
	if (!session)
		return;
	format_add(line, sizeof(line),
		   "More:  dwell report %s %s%s--threads | --cpus | --execs | --json",
		   ESCAPED(session), digest->signals.count ? "--signal NAME | " : "",
		   digest->profile.all.count ? "--stacks | " : "");
	page_wrap(page, 0, 2, line);
}
