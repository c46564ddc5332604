/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that web/ builds, as bytes of this program. Owns nothing. Called by page.c.
 */
#ifndef DWELL_PAGE_TEMPLATE_H
#define DWELL_PAGE_TEMPLATE_H

/* "": this program was built without it. */
const char *page_template(void);

#endif
