// SPDX-License-Identifier: Apache-2.0
/*
 * dwell with the page that the environment has instead of the one that npm builds, for
 * tests/unit/page.sh: tests of the data need no npm, and one of them needs no page at all.
 */
#include <stdlib.h>

#include "../../src/page/template.h"

const char *page_template(void)
{
	const char *page = getenv("DWELL_TEST_PAGE");

	return page ? page : "";
}
