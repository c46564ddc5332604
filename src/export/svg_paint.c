// SPDX-License-Identifier: Apache-2.0
#include "svg_paint.h"

#include <inttypes.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"

/* Hue, saturation, lightness. */
static const struct {
	const char *name;
	double hue, saturation, lightness;
} looks[] = {
	[LOOK_USER] = {"user", 28, 0.88, 0.72},
	[LOOK_INLINED] = {"inlined", 50, 0.90, 0.74},
	[LOOK_KERNEL] = {"kernel", 208, 0.62, 0.74},
	[LOOK_JIT] = {"compiled at run time", 140, 0.42, 0.72},
	[LOOK_UNNAMED] = {"no name", 40, 0.04, 0.80},
	[LOOK_MARK] = {"stack not complete", 0, 0.65, 0.78},
	[LOOK_PROCESS] = {"process", 270, 0.25, 0.85},
	[LOOK_ALL] = {"all", 40, 0.15, 0.91},
};

/* U+FFFE and U+FFFF: XML has these not either. */
static bool is_no_character(const char *at)
{
	return !strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3);
}

void svg_escaped(const char *text, FILE *out)
{
	static const char *const entities[] = {['&'] = "&amp;",
					       ['<'] = "&lt;",
					       ['>'] = "&gt;",
					       ['"'] = "&quot;",
					       ['\''] = "&#39;"};
	char plain[4 * PROFILE_NAME_BYTES];

	utf8_escape(plain, sizeof(plain),
		    text); /* XML has no control characters, not even escaped */
	for (const char *at = plain; *at; at++) {
		u8 byte = (u8)*at;

		if (byte < ARRAY_SIZE(entities) && entities[byte])
			fputs(entities[byte], out);
		else
			fputc(byte == 0xef && is_no_character(at) ? '?' : byte, out);
		at += byte == 0xef && is_no_character(at) ? 2 : 0;
	}
}

const char *svg_duration(u64 ns, char buf[SVG_DURATION])
{
	double value = (double)ns;

	if (value >= 1e9)
		snprintf(buf, SVG_DURATION, "%.3f s", value / 1e9);
	else if (value >= 1e6)
		snprintf(buf, SVG_DURATION, "%.2f ms", value / 1e6);
	else
		snprintf(buf, SVG_DURATION, "%.1f us", value / 1e3);
	return buf;
}

const char *svg_samples(const struct profile_sum *sum, char buf[SVG_SAMPLES])
{
	int at = snprintf(buf, SVG_SAMPLES, "%" PRIu64 " sample%s", (uint64_t)sum->count,
			  sum->count == 1 ? "" : "s");

	if (!profile_is_even(sum))
		snprintf(buf + at, SVG_SAMPLES - (size_t)at, " (%.1f effective)",
			 profile_effective(sum));
	return buf;
}

static double channel(double a, double lightness, double hue, double offset)
{
	double k = offset + hue / 30, least;

	while (k >= 12)
		k -= 12;
	least = k - 3 < 9 - k ? k - 3 : 9 - k;
	least = least > 1 ? 1 : least < -1 ? -1 : least;
	return lightness - a * least;
}

void svg_color(enum look look, const char *name, FILE *out)
{
	unsigned shade = 0;
	double lightness, a;

	for (; *name; name++)
		shade = shade * 31 + (u8)*name;
	shade = look == LOOK_ALL || look == LOOK_PROCESS ? 0 : shade % 8;
	lightness = looks[look].lightness + ((double)shade - 3.5) * 0.012;
	a = looks[look].saturation * (lightness < 0.5 ? lightness : 1 - lightness);
	fprintf(out, "#%02x%02x%02x", (unsigned)(255 * channel(a, lightness, looks[look].hue, 0)),
		(unsigned)(255 * channel(a, lightness, looks[look].hue, 8)),
		(unsigned)(255 * channel(a, lightness, looks[look].hue, 4)));
}

const char *svg_look_name(enum look look)
{
	return looks[look].name;
}
