// SPDX-License-Identifier: Apache-2.0
#include "template.h"

#include "page_file.inc" /* PAGE_FILE, if there is one */

#ifdef PAGE_FILE
/* The assembler takes a megabyte at once, where the compiler would take seconds. */
__asm__(".pushsection .rodata, \"a\", %progbits\n"
	"page_template_bytes:\n"
	".incbin \"" PAGE_FILE "\"\n"
	".byte 0\n"
	".popsection\n");

extern const char page_template_bytes[];

const char *page_template(void)
{
	return page_template_bytes;
}
#else
const char *page_template(void)
{
	return "";
}
#endif
